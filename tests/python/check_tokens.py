"""Tokens of texts as transformers' AutoTokenizer reads them: check_tokens.py FOLDER, texts as JSON on stdin."""

import json
import sys

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
texts = json.load(sys.stdin)
ids = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
print(json.dumps(dict(size=len(tokenizer), ids=ids, texts=[tokenizer.decode(one) for one in ids])))
