"""What the checks in Python share."""


def check(holds, *what):
    if not holds:
        raise SystemExit(" ".join(map(str, what)))


def chromium(playwright, path):
    """The browser at this path."""
    arguments = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    return playwright.chromium.launch(executable_path=path, args=arguments)
