"""Links from the pages to files of the repository: each such file becomes a page of the site that shows it."""

import html
import os
import posixpath

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.util.osutil import relative_uri

ROOT = os.environ["TANDEM_ROOT"]
# Where a link to a directory leads.
DIRECTORIES = {
    "docs/decisions": "docs/decisions/index",
    "Sources/Store/Store.docc": "api/store",
    "Sources/Journal/Journal.docc": "api/journal",
    "Sources/Sync/Sync.docc": "api/sync",
}


def resolve(app, document):
    """Resolves the links of a page that name no page. Those to nothing stay, and become warnings."""
    env = app.env
    for node in list(document.findall(addnodes.pending_xref)):
        if node["refdomain"] is not None or node["reftarget"].startswith("#"):
            continue
        page = "README" if env.docname == "index" else env.docname
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), node["reftarget"]))
        if path == "README.md":
            target = "index"
        elif path in DIRECTORIES:
            target = DIRECTORIES[path]
        elif not path.startswith("..") and os.path.isfile(os.path.join(ROOT, path)):
            target = "source/" + path
            files(env).add(path)
        else:
            continue
        uri = relative_uri(env.docname + ".html", target + ".html")
        node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))


def files(env):
    """The files that links lead to."""
    if not hasattr(env, "repository_files"):
        env.repository_files = set()
    return env.repository_files


def merge(app, env, documents, other):
    files(env).update(files(other))


def pages(app):
    """The pages of the files that links lead to. The search leaves them out."""
    for path in sorted(files(app.env)):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        try:
            lexer = get_lexer_for_filename(path)
        except ClassNotFound:
            lexer = TextLexer()
        code = highlight(text, lexer, HtmlFormatter(cssclass="highlight"))
        name = html.escape(path)
        yield f"source/{path}", {"title": name, "body": f"<h1><code>{name}</code></h1>{code}"}, "page.html"


def setup(app):
    app.connect("doctree-read", resolve)
    app.connect("env-merge-info", merge)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
