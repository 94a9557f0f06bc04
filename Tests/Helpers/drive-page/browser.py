"""Drives headless Chromium by its DevTools protocol, over a pipe: no port is opened."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One page in one browser, which ends with the `with` block."""

    def __init__(self, program, is_dark=False, has_motion=False, size=(1280, 800)):
        self.events = []
        self.count = 0
        self.profile = tempfile.mkdtemp(prefix="drive-page.")
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()

        def place_pipe():
            # The browser reads from 3 and writes to 4.
            spare = [os.dup(to_read), os.dup(to_write)]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        options = [
            "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--disable-extensions",
            "--force-color-profile=srgb", "--user-data-dir=" + self.profile,
        ]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        environment = dict(os.environ, HOME=self.profile)
        # Closing descriptors would close 3 and 4 after they are placed.
        self.process = subprocess.Popen(
            [program] + options, preexec_fn=place_pipe, close_fds=False, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.pending = b""
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call(
            "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network", "DOM":
            self.call(domain + ".enable")
        width, height = size
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"},
            {"name": "prefers-reduced-motion", "value": "no-preference" if has_motion else "reduce"},
        ])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        # Its other processes may write there for a moment longer.
        for _ in range(100):
            shutil.rmtree(self.profile, ignore_errors=True)
            if not os.path.exists(self.profile):
                break
            time.sleep(0.1)

    def call(self, method, **parameters):
        """Calls a method and returns its result. Events that come meanwhile are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        while True:
            answer = self.receive()
            if answer.get("id") != self.count:
                self.events.append(answer)
            elif "error" in answer:
                raise SystemExit(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def receive(self):
        while b"\0" not in self.pending:
            read = os.read(self.read_end, 1 << 20)
            if not read:
                raise SystemExit("the browser ended")
            self.pending += read
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def open(self, path):
        """Opens a file and waits until it shows its report."""
        self.call("Page.navigate", url="file://" + path)
        self.wait("document.readyState === 'complete'")
        # A script that the policy forbids says here which hash it has.
        if self.problems():
            raise SystemExit(f"cannot be opened: {self.problems()}")
        self.wait("performance.getEntriesByName('drawn').length > 0")

    def value(self, expression):
        """Evaluates JavaScript and returns its value."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression):
        """Waits until JavaScript is true."""
        for _ in range(1200):
            if self.value(f"Boolean({expression})"):
                return
            time.sleep(0.05)
        raise SystemExit(f"never: {expression} {self.problems()}")

    def press(self, key):
        code = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37,
                "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[key]
        for kind in "rawKeyDown", "keyUp":
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, x, y, count=1):
        for number in range(1, count + 1):
            for kind in "mousePressed", "mouseReleased":
                self.call(
                    "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                    clickCount=number)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def problems(self):
        """What was logged or thrown, and every request but that for the page."""
        self.value("0")
        found = []
        for event in self.events:
            details = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append("thrown: " + json.dumps(details["exceptionDetails"]))
            elif event.get("method") == "Runtime.consoleAPICalled":
                found.append("console: " + json.dumps(details["args"]))
            elif event.get("method") == "Log.entryAdded":
                found.append("log: " + details["entry"]["text"])
            elif event.get("method") == "Network.requestWillBeSent":
                if details.get("type") != "Document":
                    found.append("request: " + details["request"]["url"])
        return found
