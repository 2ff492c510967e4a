"""The same sampler behind vLLM's completions, for a policy of ours: serve_like_vllm.py MODEL. Prints its port."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from sampler import load, write

model, tokenizer, eos = load(sys.argv[1])


class Completions(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        ids, logprobs, tops, why = write(
            model, tokenizer, asked["prompt"], max_tokens=asked["max_tokens"], seed=asked["seed"],
            temperature=asked["temperature"], stop=asked.get("stop") or (), eos=eos)
        name = lambda token: f"token_id:{token}"
        said = dict(tokens=[name(t) for t in ids], token_logprobs=logprobs,
                    top_logprobs=[{name(t): value for t, value in best} for best in tops])
        stop = next((s for s in asked.get("stop") or () if why == "stop" and
                     tokenizer.decode(ids, skip_special_tokens=True).endswith(s)), None)
        choice = dict(index=0, text=tokenizer.decode(ids), logprobs=said, stop_reason=stop,
                      finish_reason="length" if why == "length" else "stop")
        body = json.dumps(dict(choices=[choice], usage=dict(prompt_tokens=len(asked["prompt"])))).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Completions)
print(server.server_port, flush=True)
server.serve_forever()
