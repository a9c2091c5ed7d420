import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import Journal
import NIOCore
import Sync

/// Answers the pages for people and their forms.
struct Pages: Sendable {
    let replica: Replica
    let sessions: Sessions
    /// True when callers need no token: then nobody signs in.
    let isOpen: @Sendable () -> Bool
    let reports: ReportSource
    let live: LiveFeed

    /// The largest form, in bytes: all conflicts of a page, and more.
    static let formBytes = 64 << 10

    // MARK: - Pages

    func answer(_ request: Request) async throws -> Response {
        switch request.uri.path {
        case PageStyle.path: return Pages.file(PageStyle.css, type: "text/css; charset=utf-8")
        case LiveScript.path: return Pages.file(LiveScript.source, type: "text/javascript; charset=utf-8")
        case LoginPage.path: return isOpen() ? try Pages.redirect(to: OverviewPage.path) : LoginPage.page().response()
        default: return try await page(request).response()
        }
    }

    private func page(_ request: Request) async throws -> Page {
        let frame = try await frame(request)
        switch request.uri.path {
        case ConflictsPage.path:
            let choice = ConflictChoice(query: request.uri.query)
            let listing = try await read { db in
                ConflictsPage.Listing(
                    choice: choice, conflicts: try choice.conflicts(db, atMost: ConflictsPage.most),
                    total: try ConflictLedger.counts(db)[.open] ?? 0, tables: try TableCoverage(db).tracked)
            }
            return ConflictsPage.page(listing, frame: frame)
        case HeldPage.path:
            let (rows, total) = try await read { db in
                let secrets = try SecretColumns(db)
                let rows = try HeldEntries.rows(db, atMost: HeldPage.most).map { $0.hiding(secrets) }
                return (rows, try HeldEntries.counts(db).reduce(0) { $0 + $1.rows })
            }
            return HeldPage.page(rows, total: total, frame: frame)
        case TablesPage.path: return TablesPage.page(try await reports.report(countingRows: true), frame: frame)
        case HistoryPage.path: return try await history(request, frame)
        default:
            return OverviewPage(try await reports.report(countingRows: false), charts: live.charts).page(frame)
        }
    }

    private func history(_ request: Request, _ frame: Page.Frame) async throws -> Page {
        let fields = FormData(request.uri.query ?? "")
        var question: HistoryPage.Question?
        if let table = fields?["table"], let key = fields?["key"], !table.isEmpty, !key.isEmpty {
            question = HistoryPage.Question(table: table, key: key)
        }
        let (changes, tables) = try await blocking { [replica, question] in
            (
                try question.map { try HistoryPage.changes($0, in: replica) } ?? [],
                try replica.read { try TableCoverage($0).tracked }
            )
        }
        return HistoryPage.page(question, changes, tables: tables, frame: frame)
    }

    private func frame(_ request: Request) async throws -> Page.Frame {
        let origin = try await blocking { [replica] in try replica.identity().origin }
        return Page.Frame(replica: origin.short, session: sessions.session(of: request.headers))
    }

    private func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await blocking { [replica] in try replica.read(body) }
    }

    // MARK: - Forms

    /// Does what a form asks for. The gate has checked that the caller may use the route.
    func submit(_ request: Request, body: [UInt8]) async throws -> Response {
        guard let text = String(validating: body, as: UTF8.self), let form = FormData(text) else {
            throw Refusal(status: 400, code: "invalid", "the form cannot be read", hint: "Load the page again")
        }
        switch request.uri.path {
        case LoginPage.path: return try signIn(form)
        case ConflictsPage.path:
            try check(form, of: request)
            return try await decide(form, choice: ConflictChoice(query: request.uri.query))
        default:
            let session = sessions.session(of: request.headers)
            if session != nil { try check(form, of: request) }
            return try Pages.redirect(to: LoginPage.path, cookie: sessions.end(session))
        }
    }

    private func signIn(_ form: FormData) throws -> Response {
        guard let token = form["token"], let (cookie, scopes) = sessions.begin(token: token) else {
            return LoginPage.page(error: "This token is not accepted").response(status: 401)
        }
        guard scopes.contains(.read) else {
            return LoginPage.page(error: "This token does not have the scope read").response(status: 403)
        }
        return try Pages.redirect(to: OverviewPage.path, cookie: cookie)
    }

    /// Refuses a form that was not on a page of this session. A token as bearer needs no such proof, because
    /// browsers do not send it by themselves.
    private func check(_ form: FormData, of request: Request) throws {
        guard request.headers[.authorization] == nil else { return }
        guard let session = sessions.session(of: request.headers), Sessions.accepts(form["csrf"], of: session) else {
            throw Refusal(
                status: 403, code: "forbidden", "the form does not belong to your session",
                hint: "Load the page again, and repeat what you did")
        }
    }

    /// Restores or dismisses conflicts: the one of a button, or all that are selected.
    ///
    /// - Parameter choice: What the page with the form shows, and the next one will.
    private func decide(_ form: FormData, choice: ConflictChoice) async throws -> Response {
        let isRestore: Bool
        let words: [String]
        if let id = form["restore"] ?? form["dismiss"] {
            isRestore = form["restore"] != nil
            words = [id]
        } else {
            isRestore = form["action"] == "restore"
            words = form.all("id")
        }
        let ids = words.compactMap { Int64($0) }
        guard ids.count == words.count, !ids.isEmpty, isRestore || form["dismiss"] != nil || form["action"] == "dismiss"
        else {
            throw Refusal(status: 400, code: "invalid", "no conflict is selected", hint: "Select one, then try again")
        }
        do {
            try await blocking { [replica] in
                let time = Date().timeIntervalSince1970
                if isRestore {
                    try replica.restoreConflicts(ids, time: time)
                } else {
                    try replica.dismissConflicts(ids, time: time)
                }
            }
        } catch let error as JournalError {
            guard let failure = Failure(describing: error) else { throw error }
            throw Refusal(status: 409, code: error.code.name, failure.message, hint: failure.hint)
        }
        return try Pages.redirect(to: choice.address)
    }

    // MARK: - Answers

    private static func file(_ text: String, type: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Sends the browser to another page, by GET.
    private static func redirect(to path: String, cookie: String? = nil) throws -> Response {
        var headers: HTTPFields = [.location: path]
        if let cookie { headers[.setCookie] = cookie }
        return Response(status: .seeOther, headers: headers)
    }

    /// The answer to a refused request: the form for a token, or what went wrong.
    static func response(to refusal: Refusal) -> Response {
        guard refusal.status != 401 else { return LoginPage.page().response(status: 401) }
        var response = Page(refusal).response(status: refusal.status)
        if let seconds = refusal.retryAfterSeconds { response.headers[.retryAfter] = String(seconds) }
        return response
    }
}

extension HeldEntries {
    private struct Enough: Error {}

    /// The first held rows. It does not look for changes of unknown tables, which takes a walk over the
    /// journal.
    fileprivate static func rows(_ db: Database, atMost most: Int) throws -> [HeldEntry] {
        var rows: [HeldEntry] = []
        guard try counts(db).contains(where: { $0.rows > 0 }) else { return [] }
        do {
            try HeldEntries(db).forEach { entry in
                guard entry.row != nil else { throw Enough() }
                rows.append(entry)
                if rows.count >= most { throw Enough() }
            }
        } catch is Enough {}
        return rows
    }
}
