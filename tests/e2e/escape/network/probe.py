"""Sends prepared bytes to the proxy of this program, and writes what came back for each. Usage: probe.py REQUESTS RESULTS"""

import json, socket, ssl, sys


def ask(steps):
    """Sends the first step, and each further one when something came back."""
    stream = socket.create_connection(("127.0.0.1", 3128), 20)
    answer = b""
    for step in steps:
        stream.sendall(bytes.fromhex(step))
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
    stream = socket.create_connection(("127.0.0.1", 3128), 20)
    stream.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
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
