import Foundation
import HTTPTypes
import Hummingbird
import Journal
import NIOCore

/// One page for people: a title and its content, within the frame that all pages share.
struct Page {
    /// What a page knows of its reader and of the replica.
    struct Frame: Sendable {
        /// The short origin of the replica; nil where the reader may not know it.
        let replica: String?
        /// nil without a session: there is nothing to sign out from then.
        let session: Session?
        /// True when the reader may restore and dismiss.
        var mayAct: Bool { session?.scopes.contains(.admin) == true }

        static let stranger = Frame(replica: nil, session: nil)
    }

    /// The pages of the menu.
    static let menu = [
        (path: "/", name: "Overview"), (path: "/conflicts", name: "Conflicts"), (path: "/held", name: "Held rows"),
        (path: "/tables", name: "Tables"), (path: "/history", name: "History"),
    ]

    let title: String
    let path: String
    let frame: Frame
    /// Seconds after which a browser without scripts fetches the page again; nil for pages in which a reader may be
    /// typing.
    var refreshSeconds: Int?
    /// When what the page shows was so; nil for pages without live parts.
    var time: Date?
    /// The shape of the live parts, by ``LiveParts/shape``; nil for pages that are the same in any shape.
    var shape: String?
    let content: HTML

    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'"

    func response(status: Int = 200) -> Response {
        var headers: HTTPFields = [
            .contentType: ContentType.html, .contentSecurityPolicy: Page.contentSecurityPolicy,
        ]
        // A page of another site gets neither the address of this one nor a window on it.
        let others = [
            ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        for (name, value) in others {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: .init(code: status), headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html.text))
        )
    }

    var html: HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        \(refresh)
        <title>\(title) · syncd\(frame.replica.map { " \($0)" } ?? "")</title>
        <link rel="stylesheet" href="\(PageStyle.path)">
        \(script)
        </head>
        <body>
        <a class="skip" href="#content">Skip to content</a>
        \(header)
        <main id="content"\(shapeAttribute)>
        <h1>\(title)</h1>
        \(liveState)
        \(content)
        </main>
        </body>
        </html>
        """
    }

    private var refresh: HTML? {
        refreshSeconds.map { "<noscript><meta http-equiv=\"refresh\" content=\"\(id: Int64($0))\"></noscript>" }
    }

    private var script: HTML? {
        time == nil ? nil : "<script src=\"\(LiveScript.path)\" defer></script>"
    }

    private var shapeAttribute: HTML? { shape.map { " data-shape=\"\($0)\"" } }

    /// The script says here whether the page follows.
    private var liveState: HTML? {
        time.map { "<p id=\"live-state\" class=\"soft\" role=\"status\">As of \(ConsoleText.time($0))</p>" }
    }

    private var header: HTML? {
        guard let replica = frame.replica else { return nil }
        let items: [HTML] = Page.menu.map { item in
            let current: HTML = item.path == path ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(item.path)\"\(current)>\(item.name)</a></li>"
        }
        let signOut: HTML? = frame.session.map { session in
            """
            <form method="post" action="/logout"><input type="hidden" name="csrf" value="\(session.csrf)">\
            <button>Sign out</button></form>
            """
        }
        return """
            <header><strong>Replica <code>\(replica)</code></strong>
            <nav aria-label="Pages"><ul>\(items)</ul></nav>
            \(signOut)</header>
            """
    }
}

extension Page {
    /// The answer for a reader who is refused, or whose order failed.
    init(_ refusal: Refusal, frame: Frame = .stranger) {
        let hint: HTML? = refusal.hint.map { "<p>\($0).</p>" }
        self.init(
            title: "That did not work", path: "", frame: frame,
            content:
                "<div class=\"error\"><p>\(Page.sentence(refusal.message)).</p>\(hint)</div><p><a href=\"/\">Overview</a></p>"
        )
    }

    /// Begins with a capital letter.
    private static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
