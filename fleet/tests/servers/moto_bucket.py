"""An S3 server of others with the bucket `tapes`, on a port that the system chooses; prints its address and serves until it is ended."""

import time
import urllib.request

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
address = f"http://{host}:{port}"
urllib.request.urlopen(urllib.request.Request(f"{address}/tapes", method="PUT"))
print(address, flush=True)
while True:
    time.sleep(3600)
