"""A headless Chromium, by the W3C WebDriver protocol, for scripts/page-test and scripts/site-test.

It needs Debian's chromium and chromium-driver (`apt-get install chromium chromium-driver`).
"""
import base64
import contextlib
import json
import subprocess
import time
import urllib.request


def request(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    call = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(call, timeout=60) as answer:
        return json.load(answer)["value"]


class Browser:
    """A session."""

    def __init__(self, driver):
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--force-device-scale-factor=1"],
            "binary": "/usr/bin/chromium",
        }
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.driver = driver
        value = request("POST", driver + "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.url = f"{driver}/session/{value['sessionId']}"

    def run(self, script, *arguments):
        return request("POST", self.url + "/execute/sync", {"script": script, "args": list(arguments)})

    def command(self, name, parameters):
        return request("POST", self.url + "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def until(self, script, seconds):
        """Asks until the script returns something true, or the time is over."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.02)

    def open(self, address):
        request("POST", self.url + "/url", {"url": address})

    def find(self, selector):
        found = request("POST", self.url + "/element", {"using": "css selector", "value": selector})
        return f"{self.url}/element/{next(iter(found.values()))}"

    def click(self, selector):
        request("POST", self.find(selector) + "/click", {})

    def type(self, selector, text):
        request("POST", self.find(selector) + "/value", {"text": text})

    def text(self):
        return self.run("return document.body.innerText")

    def shows(self, text):
        """Waits for the page that a click leads to, and tells whether it has the text."""
        return self.until(f"return document.body?.innerText.includes({json.dumps(text)})", 10)

    def look(self, width, scheme):
        self.command("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.command("Emulation.setEmulatedMedia",
                     {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def messages(self):
        return [entry["message"] for entry in request("POST", self.url + "/se/log", {"type": "browser"})]

    def picture(self, path, clip=None):
        """Writes a picture of the page, or of the part that a script returns as [x, y, width, height]."""
        options = {"captureBeyondViewport": True}
        if clip:
            options["clip"] = dict(zip(("x", "y", "width", "height"), self.run(clip)), scale=1)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("Page.captureScreenshot", options)["data"]))

    def close(self):
        request("DELETE", self.url)


@contextlib.contextmanager
def chromium():
    """A browser with its driver, which both end with the block."""
    driver = subprocess.Popen(["chromedriver", "--port=9517", "--log-level=SEVERE"], stdout=subprocess.PIPE, text=True)
    try:
        while "started successfully" not in driver.stdout.readline():
            pass
        browser = Browser("http://127.0.0.1:9517")
        yield browser
        browser.close()
    finally:
        driver.terminate()
        driver.wait()
