"""forge-lock.py LOCKS MINUTES exclusive|shared < MASTER-KEY

Writes a lock into the directory `locks` of a restic repository, as a process of another machine
made it some minutes ago, and prints its identifier. The key is what `restic cat masterkey`
prints. restic asks the kernel for the time, so that no such lock can be made with it.
"""

import base64
import datetime
import hashlib
import json
import pathlib
import secrets
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.poly1305 import Poly1305


def main(locks, minutes, kind):
    key = json.load(sys.stdin)
    encrypt = base64.b64decode(key["encrypt"])
    k, r = (base64.b64decode(key["mac"][name]) for name in "kr")
    made = datetime.datetime.now(datetime.timezone.utc)
    made -= datetime.timedelta(minutes=float(minutes))
    lock = {"time": made.isoformat(), "exclusive": kind == "exclusive", "hostname": "elsewhere"}
    lock |= {"username": "ada", "pid": 4711, "uid": 1000, "gid": 1000}
    nonce = secrets.token_bytes(16)
    text = Cipher(algorithms.AES(encrypt), modes.CTR(nonce)).encryptor().update(
        json.dumps(lock).encode())
    one_time = r + Cipher(algorithms.AES(k), modes.ECB()).encryptor().update(nonce)
    data = nonce + text + Poly1305.generate_tag(one_time, text)
    identifier = hashlib.sha256(data).hexdigest()
    pathlib.Path(locks, identifier).write_bytes(data)
    print(identifier)


main(*sys.argv[1:])
