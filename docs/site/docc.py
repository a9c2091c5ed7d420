"""Documents of Sphinx made of what DocC writes (docc_pages.py).

DocC's own pages need a server that knows their path, and a search cannot look into them. So the site has pages of its
own, in which the members of a type are sections.
"""

import json

from docutils import nodes
from sphinx import addnodes
from sphinx.parsers import Parser as SphinxParser
from sphinx.util.osutil import relative_uri

from docc_pages import TYPES, anchor_of

class Parser(SphinxParser):
    """Makes a document of the file of a page."""

    supported = ("docc",)

    def parse(self, inputstring, document):
        self.page = json.loads(inputstring)
        entry = self.page["entry"]
        is_symbol = entry["kind"] == "symbol"
        self.references = entry["references"]
        title = entry["metadata"]["title"]
        page = self.section(title, nodes.make_id(title), is_symbol and entry["metadata"]["symbolKind"] != "module")
        document += page
        if entry["metadata"].get("symbolKind") == "module":
            articles = [self.page["places"][each][0] for section in entry.get("topicSections", [])
                        for each in section["identifiers"]
                        if entry["references"][each].get("role") == "article"]
            if articles:
                page += addnodes.toctree(
                    "", parent=self.page["name"], entries=[(None, each) for each in articles], includefiles=articles,
                    maxdepth=1, caption=None, glob=False, hidden=True, includehidden=False, numbered=0, titlesonly=True,
                    rawentries=[])
        elif is_symbol:
            # Not in the table of contents, but in the topics of its module.
            document.settings.env.metadata[self.page["name"]]["orphan"] = True
        self.head(page, entry)
        self.content(page, entry, in_sections=True)
        self.topics(page, entry)

    def head(self, parent, entry):
        """What it is, in which module; the first sentence, the declaration, and what it conforms to."""
        metadata = entry["metadata"]
        if entry["kind"] == "symbol" and metadata["symbolKind"] in TYPES - {"module"}:
            kind = nodes.paragraph("", "", classes=["kind"])
            kind += nodes.Text(metadata["roleHeading"] + " in ")
            above = entry["hierarchy"]["paths"][0]
            for number, identifier in enumerate(above):
                kind += [nodes.Text(".")] if number else []
                kind += self.link(identifier)
            parent += kind
        if entry.get("abstract"):
            parent += nodes.paragraph("", "", *self.inline(entry["abstract"]))
        for section in entry.get("primaryContentSections", []):
            if section["kind"] == "declarations":
                code = "".join(token["text"] for token in section["declarations"][0]["tokens"])
                parent += nodes.literal_block(code, code, language="swift")
        for section in entry.get("relationshipsSections", []):
            paragraph = nodes.paragraph("", section["title"] + ": ")
            for number, identifier in enumerate(section["identifiers"]):
                paragraph += [nodes.Text(", ")] if number else []
                paragraph += self.link(identifier)
            parent += paragraph

    def content(self, parent, entry, in_sections):
        for section in entry.get("primaryContentSections", []):
            if section["kind"] == "parameters":
                parent += nodes.rubric("", "Parameters")
                items = nodes.definition_list()
                for each in section["parameters"]:
                    term = nodes.term("", "", nodes.literal("", each["name"]))
                    items += nodes.definition_list_item(
                        "", term, nodes.definition("", *self.blocks(each["content"])))
                parent += items
            elif section["kind"] == "content":
                self.fill(parent, section["content"], in_sections)

    def fill(self, parent, blocks, in_sections):
        """Adds blocks to a section. Headings begin sections below it, or are lines of their own inside a member."""
        open_sections = [(1, parent)]
        for block in blocks:
            if block["type"] != "heading":
                open_sections[-1][1].extend(self.blocks([block]))
            elif not in_sections:
                parent += nodes.rubric("", block["text"])
            else:
                while open_sections[-1][0] >= block["level"]:
                    open_sections.pop()
                section = self.section(block["text"], block["anchor"])
                open_sections[-1][1].append(section)
                open_sections.append((block["level"], section))

    def topics(self, page, entry):
        """The pages below this one as lists, and the members as sections."""
        shown = set()
        sections = entry.get("topicSections", []) + entry.get("defaultImplementationsSections", [])
        rest = [each for each in self.page["members"]]
        for topic in sections + [{"title": "More", "anchor": "More", "identifiers": rest}]:
            members, links = [], []
            for identifier in self.flat(topic["identifiers"]):
                if identifier in self.page["members"]:
                    if identifier not in shown:
                        members.append(identifier)
                        shown.add(identifier)
                elif identifier in self.page["places"]:
                    links.append(identifier)
            if not members and not links:
                continue
            section = self.section(topic["title"], topic["anchor"])
            page += section
            if links:
                items = nodes.definition_list()
                for identifier in links:
                    term = nodes.term("", "", *self.link(identifier))
                    abstract = self.references[identifier].get("abstract", [])
                    items += nodes.definition_list_item(
                        "", term, nodes.definition("", nodes.paragraph("", "", *self.inline(abstract))))
                section += items
            for identifier in members:
                self.member(section, identifier)

    def flat(self, identifiers):
        """Identifiers, with those of a group in its place."""
        for identifier in identifiers:
            group = self.page["groups"].get(identifier)
            if group:
                for section in group.get("topicSections", []):
                    yield from self.flat(section["identifiers"])
            else:
                yield identifier

    def member(self, parent, identifier):
        entry = self.page["members"][identifier]
        outer, self.references = self.references, entry["references"]
        section = self.section(entry["metadata"]["title"], self.page["anchors"][identifier], True)
        section["classes"].append("member")
        parent += section
        self.head(section, entry)
        self.content(section, entry, in_sections=False)
        self.references = outer

    def section(self, title, anchor, is_code=False):
        inner = nodes.literal("", title) if is_code else nodes.Text(title)
        return nodes.section("", nodes.title("", "", inner), ids=[anchor_of(anchor)])

    # Blocks

    def blocks(self, blocks):
        return [getattr(self, "block_" + block["type"])(block) for block in blocks]

    def block_paragraph(self, block):
        return nodes.paragraph("", "", *self.inline(block["inlineContent"]))

    def block_heading(self, block):
        return nodes.rubric("", block["text"])

    def block_codeListing(self, block):
        code = "\n".join(block["code"])
        return nodes.literal_block(code, code, language=block["syntax"] or "text")

    def block_aside(self, block):
        return nodes.admonition("", nodes.title("", block["name"]), *self.blocks(block["content"]))

    def block_unorderedList(self, block):
        return nodes.bullet_list("", *(nodes.list_item("", *self.blocks(each["content"])) for each in block["items"]))

    def block_orderedList(self, block):
        items = (nodes.list_item("", *self.blocks(each["content"])) for each in block["items"])
        return nodes.enumerated_list("", *items, enumtype="arabic", prefix="", suffix=".", start=block.get("start", 1))

    def block_table(self, block):
        rows = block["rows"]
        group = nodes.tgroup(cols=len(rows[0]))
        group += [nodes.colspec(colwidth=1) for _ in rows[0]]
        rows = [nodes.row("", *(nodes.entry("", *self.blocks(cell)) for cell in row)) for row in rows]
        if block["header"] == "row":
            group += nodes.thead("", rows.pop(0))
        group += nodes.tbody("", *rows)
        return nodes.table("", group)

    # Text in a line

    def inline(self, items):
        return [node for item in items for node in getattr(self, "inline_" + item["type"])(item)]

    def inline_text(self, item):
        return [nodes.Text(item["text"])]

    def inline_codeVoice(self, item):
        return [nodes.literal("", item["code"])]

    def inline_emphasis(self, item):
        return [nodes.emphasis("", "", *self.inline(item["inlineContent"]))]

    def inline_strong(self, item):
        return [nodes.strong("", "", *self.inline(item["inlineContent"]))]

    def inline_reference(self, item):
        return self.link(item["identifier"])

    def link(self, identifier):
        """A link to a page or a member; the name alone when it is not documented here."""
        reference = self.references.get(identifier) or {"type": "unresolvable", "title": identifier.rsplit("/", 1)[1]}
        title = reference["title"]
        is_code = reference.get("kind") != "article" and reference.get("role") != "collection"
        text = nodes.literal("", title) if is_code else nodes.Text(title)
        if reference["type"] == "link":
            return [nodes.reference("", "", text, refuri=reference["url"])]
        if identifier not in self.page["places"]:
            return [text]
        name, anchor = self.page["places"][identifier]
        uri = relative_uri(self.page["name"] + ".html", name + ".html")
        return [nodes.reference("", "", text, refuri=uri + (f"#{anchor}" if anchor else ""), internal=True)]


def setup(app):
    app.add_source_suffix(".json", "docc")
    app.add_source_parser(Parser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
