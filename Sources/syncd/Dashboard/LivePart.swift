/// A part of the pages that is replaced while somebody looks at it.
struct LivePart: Sendable {
    /// The id of the element in the page. An element without one of this id is not on that page.
    let id: String
    /// What the element contains.
    let html: HTML
}

/// All live parts of the pages at one moment.
struct LiveParts: Sendable {
    let parts: [LivePart]
    /// Which elements there are. A page of another shape has to be loaded again.
    let shape: String
}

extension LivePart {
    /// A sentence of a page whose list is not replaced while somebody works in it. When the sentence changes, a
    /// link appears that loads the page again.
    static func line(_ part: LivePart, path: String) -> HTML {
        """
        <p><span id="\(part.id)" data-news="news" role="status">\(part.html)</span> \
        <a id="news" href="\(path)" hidden>Show what is new</a></p>

        """
    }
}
