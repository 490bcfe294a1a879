"""A real HTTP server that answers chat completions, and misbehaves when told to."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # refuse nothing because of a short queue
    request_queue_size = 64

    def __init__(self, script=(), *, usage=True, delay=0.0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script if callable(script) else list(script)
        """What to do with the next requests, then "ok" for ever; or a function of the
        number of the request and its body."""
        self.usage = usage
        self.delay = delay
        self.bodies = []
        self.keys = []
        self.times = []
        self.under_way = self.most = 0
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        """Clients that hang up are part of the game."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            number = len(server.bodies)
            server.bodies.append(body)
            server.keys.append(self.headers.get("Authorization"))
            server.times.append(time.monotonic())
            server.under_way += 1
            server.most = max(server.most, server.under_way)
            if callable(server.script):
                act = server.script(number, body)
            else:
                act = server.script.pop(0) if server.script else "ok"
        try:
            if server.delay:
                time.sleep(server.delay)
            getattr(self, f"act_{act}")(body)
        finally:
            with server.lock:
                server.under_way -= 1

    def send(self, status, content, headers=(), kind="application/json"):
        content = (
            content if isinstance(content, bytes) else json.dumps(content).encode()
        )
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def reply(self, body):
        said = body["messages"][-1]["content"]
        text = json.dumps({"ans": [said]})
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        value = {
            "id": "1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [choice],
        }  # fmt: skip
        if self.server.usage:
            value["usage"] = {
                "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12
            }  # fmt: skip
        return value

    def act_ok(self, body):
        if body.get("stream"):
            self.act_stream(body)
        else:
            self.send(200, self.reply(body))

    def act_stream(self, body, whole=True, length=None):
        """The reply in pieces of five characters, each an event; or half of it."""
        reply = self.reply(body)
        text = reply["choices"][0]["message"]["content"]
        pieces = [text[i : i + 5] for i in range(0, len(text), 5)]
        chunk = {**reply, "object": "chat.completion.chunk", "usage": None}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        for piece in pieces if whole else pieces[:2]:
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
            self.event({**chunk, "choices": [choice]})
        if whole:
            end = {"index": 0, "delta": {}, "finish_reason": "stop"}
            self.event({**chunk, "choices": [end]})
            self.event({**chunk, "choices": [], "usage": reply.get("usage")})
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True
        if not whole:
            self.connection.close()

    def act_stream_cut(self, body):
        """Two pieces, then the line goes dead."""
        self.act_stream(body, whole=False)

    def act_stream_short(self, body):
        """Two pieces of a reply that is announced to be longer."""
        self.act_stream(body, whole=False, length=10_000)

    def event(self, data):
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()

    def act_429(self, body):
        self.send(429, {"error": {"message": "slow down"}}, [("Retry-After", "0.3")])

    def act_429_tomorrow(self, body):
        self.send(429, {"error": {"message": "slow down"}}, [("Retry-After", "86400")])

    def act_429_plain(self, body):
        self.send(429, b"busy", kind="text/plain")

    def act_500(self, body):
        self.send(500, b"<html>oops</html>", kind="text/html")

    def act_400(self, body):
        self.send(400, {"error": {"message": "context\ntoo long"}})

    def act_401(self, body):
        self.send(401, {"error": {"message": "bad key"}})

    def act_404(self, body):
        self.send(404, {"error": {"message": "no such model"}})

    def act_quota(self, body):
        error = {"message": "pay first", "code": "insufficient_quota"}
        self.send(429, {"error": error})

    def act_cut(self, body):
        """Half a reply, then the line goes dead."""
        content = json.dumps(self.reply(body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.wfile.flush()
        self.close_connection = True
        self.connection.close()

    def act_hang_up(self, body):
        self.close_connection = True
        self.connection.close()

    def act_broken(self, body):
        self.send(200, json.dumps(self.reply(body)).encode()[:-20])

    def act_html(self, body):
        self.send(200, b"<html>login</html>", kind="text/html")

    def act_empty_choices(self, body):
        self.send(200, {**self.reply(body), "choices": []})

    def act_null_choices(self, body):
        self.send(200, {"choices": None})

    def act_list(self, body):
        self.send(200, [1, 2])

    def act_odd_content(self, body):
        value = self.reply(body)
        value["choices"][0]["message"]["content"] = [{"text": "x"}]
        self.send(200, value)

    def act_length(self, body):
        """A reply that the limit of tokens cuts."""
        value = self.reply(body)
        choice = value["choices"][0]
        choice["finish_reason"] = "length"
        choice["message"]["content"] = '{"ans": ["Ridley Scott", "Jam'
        self.send(200, value)

    def act_silent(self, body):
        """A reply without content."""
        value = self.reply(body)
        value["choices"][0]["message"]["content"] = None
        self.send(200, value)

    def act_slow(self, body):
        time.sleep(1.5)
        with contextlib.suppress(OSError):
            self.act_ok(body)

    def act_drip(self, body):
        """A byte now and then: never a pause long enough for a read timeout."""
        content = json.dumps(self.reply(body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(OSError):
            for i in range(30):
                self.wfile.write(content[i : i + 1])
                self.wfile.flush()
                time.sleep(0.1)
        self.close_connection = True


@contextlib.contextmanager
def serving(script=(), **options):
    """A running server; stopped at the end."""
    server = Server(script, **options)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
