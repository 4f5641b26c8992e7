"""Sends prepared bytes to the proxy of this program, and writes what came back for each. Usage: probe.py REQUESTS RESULTS"""

import base64, json, os, socket, ssl, sys, urllib.parse

# The proxy of this program, which asks for the password that its variables have.
PROXY = urllib.parse.urlsplit(os.environ["http_proxy"])
CREDENTIALS = base64.b64encode(f"{PROXY.username}:{PROXY.password}".encode())
FIELD = b"\r\nProxy-Authorization: Basic " + CREDENTIALS + b"\r\n"


def connect():
    return socket.create_connection((PROXY.hostname, PROXY.port), 20)


def sign_in(stream):
    """Gives the password, as SOCKS 5 does."""
    stream.sendall(b"\5\1\2")
    stream.recv(2)
    parts = [part.encode() for part in (PROXY.username, PROXY.password)]
    stream.sendall(b"\1" + b"".join(bytes([len(part)]) + part for part in parts))
    stream.recv(2)


def ask(steps):
    """Sends the first step, and each further one when something came back."""
    stream = connect()
    answer = b""
    first, *rest = [bytes.fromhex(step) for step in steps]
    if first == b"\5\1\0":
        sign_in(stream)
    else:
        rest = [first.replace(b"\r\n", FIELD, 1)] + rest
    for step in rest:
        stream.sendall(step)
        piece = stream.recv(65536)
        answer += piece
        if not piece:
            return answer
    while True:
        piece = stream.recv(65536)
        if not piece:
            return answer
        answer += piece


def greet(port, name):
    """Asks for a tunnel to a server, and greets a different one in it."""
    stream = connect()
    stream.sendall(f"CONNECT localhost:{port} HTTP/1.1".encode() + FIELD + b"\r\n")
    stream.recv(65536)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.wrap_socket(stream, server_hostname=name)


results = []
for request in json.load(open(sys.argv[1])):
    try:
        if "greeting" in request:
            greet(request["port"], request["greeting"])
            answer = b""
        else:
            answer = ask(request["steps"])
    except OSError as error:
        answer = str(error).encode()
    results.append(answer.decode("latin-1"))
json.dump(results, open(sys.argv[2], "w"))
