"""What DocC writes for its own program in the browser (`data/documentation/*.json`), laid out in pages.

There is a page for each module, article and type; the members of a type belong to its page. docc.py makes documents of them.
"""

import json
import pathlib
import re

TYPES = {"module", "struct", "enum", "protocol", "class"}


def anchor_of(text):
    """An anchor that is also a selector of CSS, which the script of the search makes of it."""
    name = re.sub("[^A-Za-z0-9]+", "-", text).strip("-")
    return name if name[:1].isalpha() else f"operator-{name}"


def collect(archive, staging):
    """Writes a file for each page of one archive below `staging`.

    - Returns: how many pages there are, and how many declarations and articles of DocC they hold.
    """
    found = {}
    for path in pathlib.Path(archive, "data").rglob("*.json"):
        entry = json.loads(path.read_text(encoding="utf-8"))
        found[entry["identifier"]["url"]] = entry
    places, taken = {}, {}

    def place(identifier):
        """The name of the page, and the anchor in it. A group of inherited declarations is no page."""
        if identifier in places:
            return places[identifier]
        entry = found[identifier]
        url = entry["variants"][0]["paths"][0].removeprefix("/documentation/")
        metadata = entry["metadata"]
        if metadata.get("symbolKind") in TYPES or metadata["role"] == "article":
            places[identifier] = (f"api/{url}", None)
        else:
            parent = place(entry["hierarchy"]["paths"][0][-1])[0]
            anchor = None
            if metadata["role"] != "collectionGroup":
                name = anchor_of(url.rsplit("/", 1)[1])
                number = taken[parent, name] = taken.get((parent, name), 0) + 1
                anchor = name if number == 1 else f"{name}-{number}"
            places[identifier] = (parent, anchor)
        return places[identifier]

    pages = {}
    for identifier in sorted(found):
        name, anchor = place(identifier)
        page = pages.setdefault(name, {"name": name, "groups": {}, "members": {}, "places": {}})
        if found[identifier]["metadata"]["role"] == "collectionGroup":
            page["groups"][identifier] = found[identifier]
        elif anchor is None:
            page["entry"] = found[identifier]
        else:
            page["members"][identifier] = found[identifier]
    for name, page in pages.items():
        page["anchors"] = {each: places[each][1] for each in page["members"]}
        for entry in [page["entry"], *page["groups"].values(), *page["members"].values()]:
            page["places"] |= {each: places[each] for each in entry["references"] if each in places}
        file = pathlib.Path(staging, f"{name}.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(page), encoding="utf-8")
    return len(pages), len(pages) + sum(len(page["members"]) for page in pages.values())
