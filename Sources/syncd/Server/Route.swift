import HTTPTypes
import Sync

/// One route of the daemon. The server is built from ``all``, and a test tries every route in it with every
/// kind of credential.
struct Route: Sendable, Hashable {
    /// What the route does.
    enum Action: String, Sendable, CaseIterable {
        case hello, pull, push, digest, snapshot, snapshotPart
        case status, metrics, health, dashboard
        /// The live parts of the pages.
        case events
        case ready
        case wait, reload
        /// The forms of the pages.
        case form
    }

    /// Who may use the route.
    enum Access: Sendable {
        /// Any caller. The answer reveals nothing about the replica.
        case anyone
        /// Callers with a token of the scope `replicate`, or of the direction: `pull` or `push`.
        case peer
        /// Callers with a token of the scope `read`. Only for routes that change nothing.
        case reader
        /// Callers with a token of the scope `admin`.
        case admin
    }

    let method: HTTPRequest.Method
    let path: String
    let action: Action
    let access: Access

    /// The scopes of which a token needs one; empty for a route that is open to anyone.
    var scopes: [TokenScope] {
        switch access {
        case .anyone: []
        case .peer:
            switch action {
            case .hello: [.replicate, .pull, .push]
            case .push: [.replicate, .push]
            default: [.replicate, .pull]
            }
        case .reader: [.read]
        case .admin: [.admin]
        }
    }

    /// True when the session of a browser may stand for the token.
    var takesSession: Bool { action == .dashboard || action == .form || action == .events }

    /// True when the token may also be the password of HTTP Basic, for which browsers have a dialog. A
    /// browser then sends it by itself, also from pages of other sites, so never for routes that do something.
    var takesPassword: Bool { access == .reader && method == .get }

    static let all: [Route] = [
        Route(method: .post, path: WireHTTP.helloPath, action: .hello, access: .peer),
        Route(method: .post, path: WireHTTP.pullPath, action: .pull, access: .peer),
        Route(method: .post, path: WireHTTP.pushPath, action: .push, access: .peer),
        Route(method: .post, path: WireHTTP.digestPath, action: .digest, access: .peer),
        Route(method: .get, path: WireHTTP.snapshotPath, action: .snapshot, access: .peer),
        Route(method: .get, path: WireHTTP.snapshotPartPath, action: .snapshotPart, access: .peer),
        Route(method: .get, path: "/v1/status", action: .status, access: .reader),
        Route(method: .get, path: "/metrics", action: .metrics, access: .reader),
        Route(method: .get, path: "/healthz", action: .health, access: .anyone),
        Route(method: .get, path: "/readyz", action: .ready, access: .anyone),
        Route(method: .get, path: OverviewPage.path, action: .dashboard, access: .reader),
        Route(method: .get, path: ConflictsPage.path, action: .dashboard, access: .reader),
        Route(method: .get, path: HeldPage.path, action: .dashboard, access: .reader),
        Route(method: .get, path: TablesPage.path, action: .dashboard, access: .reader),
        Route(method: .get, path: HistoryPage.path, action: .dashboard, access: .reader),
        Route(method: .get, path: LiveScript.eventsPath, action: .events, access: .reader),
        Route(method: .get, path: PageStyle.path, action: .dashboard, access: .anyone),
        Route(method: .get, path: LiveScript.path, action: .dashboard, access: .anyone),
        Route(method: .get, path: LoginPage.path, action: .dashboard, access: .anyone),
        Route(method: .post, path: LoginPage.path, action: .form, access: .anyone),
        Route(method: .post, path: "/logout", action: .form, access: .anyone),
        Route(method: .post, path: ConflictsPage.path, action: .form, access: .admin),
        Route(method: .post, path: WaitRequest.path, action: .wait, access: .reader),
        Route(method: .post, path: "/v1/admin/reload", action: .reload, access: .admin),
    ]

    static func matching(method: HTTPRequest.Method, path: String) -> Route? {
        all.first { $0.method == method && $0.path == path }
    }

    /// The methods of a path; empty for one that does not exist.
    static func methods(of path: String) -> [HTTPRequest.Method] {
        all.filter { $0.path == path }.map(\.method)
    }
}
