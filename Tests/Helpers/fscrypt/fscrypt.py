"""fscrypt.py ACTION DIRECTORY [COMMAND ARGUMENT...]

Encrypts a directory by fscrypt, with a key of its own:

  encrypt  an empty directory; it is unlocked then
  lock     removes the key from the filesystem
  unlock   adds it again
  old      encrypts an empty directory, unless it is already, by a policy of the first version, and runs a
           command whose session has the key
"""

import ctypes
import fcntl
import hashlib
import os
import struct
import sys


def request(number, size, direction=3):
    """The number of an ioctl of fscrypt."""
    return direction << 30 | size << 16 | ord("f") << 8 | number


SET_POLICY = request(19, 12, 2)
GET_POLICY_EX = request(22, 9)
ADD_KEY = request(23, 80)
REMOVE_KEY = request(24, 64)
SYSTEM_CALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}

action, path, *command = sys.argv[1:]
key = hashlib.sha512(path.encode()).digest()
directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)


def call(number, argument):
    """Makes an ioctl, and returns what the kernel wrote."""
    argument = bytearray(argument)
    fcntl.ioctl(directory, number, argument)
    return argument


def add_key():
    """Adds the key to the filesystem, and returns its identifier."""
    head = struct.pack("<II32xII32x", 2, 0, len(key), 0)
    return call(ADD_KEY, head + key)[8:24]


def add_session_key(descriptor):
    """Gives this process a session with the key."""
    add, keyctl = SYSTEM_CALLS[os.uname().machine]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(keyctl, 1, None)
    payload = struct.pack("<I64sI", 0, key, len(key))
    name = b"fscrypt:" + descriptor.hex().encode()
    if libc.syscall(add, b"logon", name, payload, len(payload), ctypes.c_int(-3)) < 0:
        sys.exit("add_key: " + os.strerror(ctypes.get_errno()))


if action == "encrypt":
    # AES-256-XTS for contents, AES-256-CTS for names; names are padded to 32 bytes.
    call(SET_POLICY, struct.pack("<BBBB4x", 2, 1, 4, 3) + add_key())
elif action == "unlock":
    add_key()
elif action == "lock":
    policy = call(GET_POLICY_EX, struct.pack("<Q24x", 24))
    # What is open keeps its names.
    os.close(directory)
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    call(REMOVE_KEY, struct.pack("<II", 2, 0) + policy[16:32] + bytes(40))
elif action == "old":
    descriptor = hashlib.sha512(hashlib.sha512(key).digest()).digest()[:8]
    try:
        call(SET_POLICY, struct.pack("<BBBB", 0, 1, 4, 3) + descriptor)
    except FileExistsError:
        pass
    add_session_key(descriptor)
    os.close(directory)
    os.execvp(command[0], command)
