"""serve-while.py DIRECTORY COMMAND ARGUMENT...

Serves the files of a directory over HTTP, on the loopback only, while a command runs: {} in its
arguments is the address, such as http://127.0.0.1:40123. Exits as the command does.
"""

import functools
import http.server
import subprocess
import sys
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and writes no log."""

    def log_message(self, *arguments):
        pass


directory, *command = sys.argv[1:]
handler = functools.partial(Handler, directory=directory)
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    result = subprocess.run([word.replace("{}", address) for word in command], check=False)
    server.shutdown()
sys.exit(result.returncode)
