"""cheapen-key.py REPOSITORY PASSWORD-FILE

Replaces the one key of a restic repository by one whose password takes no time to check.

restic spends half a second of every command on deriving a key from the password, which is right
for people and wrong for tests that run hundreds of commands. The key file says how costly that is:
scrypt's N. Everything else in the repository stays as restic made it.

The format is restic's (design document, "Keys, Encryption and MAC"): AES-256-CTR, authenticated by
Poly1305-AES, each file named by its SHA-256.
"""

import base64
import hashlib
import json
import pathlib
import secrets
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.poly1305 import Poly1305


def derived_keys(password, key):
    """The keys for encryption and authentication that a password gives."""
    salt = base64.b64decode(key["salt"])
    cost = {"n": key["N"], "r": key["r"], "p": key["p"]}
    derived = hashlib.scrypt(password, salt=salt, **cost, maxmem=1 << 28, dklen=64)
    return derived[:32], derived[32:48], derived[48:]


def mac(authentication, nonce, text):
    _, k, r = authentication
    aes = Cipher(algorithms.AES(k), modes.ECB()).encryptor()
    return Poly1305.generate_tag(r + aes.update(nonce), text)


def apply_stream(keys, nonce, text):
    return Cipher(algorithms.AES(keys[0]), modes.CTR(nonce)).encryptor().update(text)


def decrypted(keys, data):
    nonce, text, tag = data[:16], data[16:-16], data[-16:]
    if mac(keys, nonce, text) != tag:
        sys.exit("cheapen-key: the password does not open the key")
    return apply_stream(keys, nonce, text)


def encrypted(keys, text):
    nonce = secrets.token_bytes(16)
    text = apply_stream(keys, nonce, text)
    return nonce + text + mac(keys, nonce, text)


def main(repository, password_file):
    password = pathlib.Path(password_file).read_bytes().rstrip(b"\r\n")
    directory = pathlib.Path(repository, "keys")
    (old,) = directory.iterdir()
    key = json.loads(old.read_bytes())
    master = decrypted(derived_keys(password, key), base64.b64decode(key["data"]))
    key["N"], key["p"] = 2, 1
    data = encrypted(derived_keys(password, key), master)
    key["data"] = base64.b64encode(data).decode()
    contents = json.dumps(key).encode()
    new = directory / hashlib.sha256(contents).hexdigest()
    new.write_bytes(contents)
    new.chmod(0o400)
    old.unlink()


main(*sys.argv[1:])
