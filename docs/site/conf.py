"""The settings of Sphinx for `make site`. scripts/site lays the pages out, and sets TANDEM_ROOT."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

project = "Tandem"
extensions = ["myst_parser", "repository", "docc"]
root_doc = "index"
# Anchors of headings are those that GitHub makes, so that a link is right in both places.
myst_heading_anchors = 6
suppress_warnings = [
    # CONTRIBUTING.md and the changelog have headings below no other one.
    "myst.header",
    # Pygments does not know key paths of Swift; it then highlights what it knows.
    "misc.highlighting_failure",
]
# A block in a language that Pygments does not know, or does not understand, is shown as it is.
highlight_language = "text"
nitpicky = True

html_theme = "furo"
html_title = "Tandem"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_show_copyright = False


def share_contents(app, page, template, context, document):
    """Makes the table of contents beside a page once for each folder of pages that are not in it: that is most of the
    work otherwise."""
    if any(page in children for children in app.env.toctree_includes.values()) or page == root_doc:
        return
    make = context["toctree"]

    def contents(**options):
        key = (os.path.dirname(page), *sorted(options.items()))
        if key not in shared:
            shared[key] = make(**options)
        return shared[key]

    context["toctree"] = contents


shared = {}


def setup(app):
    # Before the theme asks for it.
    app.connect("html-page-context", share_contents, priority=400)
