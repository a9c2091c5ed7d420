import Foundation
import HTTPTypes
import Testing

@testable import SyncdCore

/// A browser without scripts: it keeps the cookie, and sends the forms of pages.
private final class Browser {
    let port: Int
    private(set) var cookie: String?

    init(_ daemon: DaemonProcess) { port = daemon.port }

    func get(_ path: String, _ headers: [(String, String)] = []) async throws -> RawHTTP.Answer {
        try await RawHTTP.request("GET", path, port: port, headers: headers + cookieHeader)
    }

    func post(
        _ path: String, _ fields: [(String, String)], _ headers: [(String, String)] = [], csrf: String? = nil
    ) async throws -> RawHTTP.Answer {
        let text = (fields + (csrf.map { [("csrf", $0)] } ?? []))
            .map { "\(FormData.encoded($0.0))=\(FormData.encoded($0.1))" }.joined(separator: "&")
        let type = [("Content-Type", "application/x-www-form-urlencoded")]
        let answer = try await RawHTTP.request(
            "POST", path, port: port, headers: type + headers + cookieHeader, body: Array(text.utf8))
        if let line = answer.head.split(separator: "\r\n").first(where: { $0.lowercased().hasPrefix("set-cookie: ") }) {
            cookie = line.dropFirst("set-cookie: ".count).split(separator: ";").first.map(String.init)
        }
        return answer
    }

    func signIn(_ token: String) async throws { #expect(try await post("/login", [("token", token)]).status == 303) }

    /// The proof that the forms of a page have.
    func csrf(_ path: String) async throws -> String {
        let body = try await get(path).body
        return String(try #require(body.firstMatch(of: /name="csrf" value="([0-9a-f]{64})"/)).1)
    }

    private var cookieHeader: [(String, String)] { cookie.map { [("Cookie", $0)] } ?? [] }
}

@Suite("The pages for people")
struct PageTests {
    private let workspace = Workspace()

    private static let paths = Page.menu.map(\.path)

    /// A daemon whose replica has conflicts, on a file with the tokens `admin-secret` and `read-secret`.
    private func start(conflicts: Int = 1, value: String = "theirs") async throws -> (
        daemon: DaemonProcess, path: String
    ) {
        let a = try await workspace.makeReplica("a.sqlite", rows: conflicts)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", b, a).status == 0)
        try workspace.execute(a, "UPDATE person SET name = 'ours ' || id")
        try workspace.execute(b, "UPDATE person SET name = '\(value)'")
        #expect(try await Tool.run("sync", b, a).status == 0)
        let tokens = try workspace.write(try AccessTests.tokensFile(), to: "tokens")
        return (try await DaemonProcess.start(a, "--tokens", tokens), a)
    }

    private func open(_ path: String) throws -> Int? {
        try workspace.value(path, "SELECT count(*) FROM _journal_conflicts WHERE state = 'open'", as: Int.self)
    }

    @Test("without a session, every page asks for the token, and tells nothing of the replica")
    func stranger() async throws {
        let (daemon, _) = try await start()
        for path in Self.paths {
            let answer = try await Browser(daemon).get(path)
            #expect(answer.status == 401 && answer.body.contains(#"action="/login""#), "\(path): \(answer)")
            #expect(!answer.body.contains("person") && !answer.body.contains("a.sqlite"))
            // With this, a browser would show a dialog of its own.
            #expect(!answer.head.contains("Basic"))
        }
        let browser = Browser(daemon)
        for token in ["wrong", "", "admin-secret "] {
            let answer = try await browser.post("/login", [("token", token)])
            #expect(answer.status == 401 && answer.body.contains("not accepted") && browser.cookie == nil, "\(answer)")
        }
        #expect(try await browser.post("/login", [("token", "replicate-secret")]).status == 403)
        #expect(try await browser.get("/style.css").status == 200)
    }

    @Test("a session shows every page; its cookie is kept from scripts and other sites, and has no token")
    func session() async throws {
        let (daemon, _) = try await start()
        let browser = Browser(daemon)
        let answer = try await browser.post("/login", [("token", "read-secret")])
        let line = try #require(answer.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie") })
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(line.contains(part), "\(line)") }
        #expect(!line.contains("read-secret"))
        for path in Self.paths {
            let page = try await browser.get(path)
            #expect(page.status == 200 && page.body.contains(#"<main id="content""#), "\(path): \(page)")
            #expect(
                page.head.contains("default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'"),
                "\(page.head)")
            #expect(page.head.lowercased().contains("x-content-type-options: nosniff"), "\(page.head)")
            // Nothing is loaded from elsewhere, and there are neither scripts nor styles within the page.
            let body = page.body.replacing(#"<script src="/live.js" defer></script>"#, with: "")
            #expect(!body.contains("://") && !body.contains("<script") && !body.contains("style="))
        }
        #expect(try await browser.get("/v1/status").status == 401)
        #expect(try await browser.get("/metrics").status == 401)

        // The cookie ends with the session, although a copy of it may have been taken.
        let copy = try #require(browser.cookie)
        #expect(try await browser.post("/logout", [], csrf: try await browser.csrf("/")).status == 303)
        #expect(try await Browser(daemon).get("/", [("Cookie", copy)]).status == 401)
    }

    @Test("a session that only reads sees no buttons, and cannot restore or dismiss")
    func reader() async throws {
        let (daemon, path) = try await start()
        let browser = Browser(daemon)
        try await browser.signIn("read-secret")
        let page = try await browser.get("/conflicts")
        #expect(!page.body.contains(">Restore<") && page.body.contains("scope admin"), "\(page.body)")
        let answer = try await browser.post("/conflicts", [("restore", "1")], csrf: try await browser.csrf("/"))
        #expect(answer.status == 403)
        #expect(try open(path) == 1)
    }

    @Test("conflicts show both versions, and what a restore does; they are restored and dismissed, singly and in bulk")
    func conflicts() async throws {
        let (daemon, path) = try await start(conflicts: 4)
        let browser = Browser(daemon)
        try await browser.signIn("admin-secret")
        let page = try await browser.get("/conflicts").body
        for text in ["ours p1", "theirs", "<mark>", "A restore writes", ">Restore<", "conflict-1"] {
            #expect(page.contains(text), "\(text): \(page)")
        }
        let csrf = try await browser.csrf("/conflicts")
        let restored = try await browser.post("/conflicts", [("restore", "1")], csrf: csrf)
        #expect(restored.status == 303 && restored.head.lowercased().contains("location: /conflicts"), "\(restored)")
        let names = "SELECT count(*) FROM person WHERE name LIKE 'ours%'"
        #expect(try open(path) == 3)
        #expect(try workspace.value(path, names, as: Int.self) == 1)
        #expect(try await browser.post("/conflicts", [("dismiss", "2")], csrf: csrf).status == 303)
        #expect(
            try await browser.post("/conflicts", [("id", "3"), ("id", "4"), ("action", "restore")], csrf: csrf).status
                == 303)
        #expect(try open(path) == 0)
        #expect(try workspace.value(path, names, as: Int.self) == 3)
        #expect(try await browser.get("/conflicts").body.contains("No conflict waits"))
        #expect(try await browser.get("/").body.contains("All is well"))
    }

    @Test("conflicts are chosen by table, key and kind; a decision leads back to what was chosen")
    func choice() async throws {
        let (daemon, path) = try await start(conflicts: 3)
        let browser = Browser(daemon)
        try await browser.signIn("admin-secret")
        func shown(_ query: String) async throws -> [Int] {
            let page = try await browser.get("/conflicts?\(query)")
            #expect(page.status == 200, "\(page)")
            return page.body.matches(of: /<article id="conflict-(\d+)">/).compactMap { Int($0.1) }
        }
        let all = try await shown("")
        #expect(all.count == 3 && all == all.sorted(by: >))
        for query in ["table=person", "table=PERSON", "kind=update%2Fupdate", "table=&key=&kind=", "table=%zz"] {
            #expect(try await shown(query) == all, "\(query)")
        }
        let second = try await shown("table=person&key=p2&kind=update%2Fupdate")
        #expect(second.count == 1)
        #expect(try await shown("key=%5B%22p2%22%5D") == second)
        for query in ["table=nowhere", "key=nobody", "kind=insert%2Finsert", "kind=odd"] {
            #expect(try await shown(query).isEmpty, "\(query)")
            #expect(try await browser.get("/conflicts?\(query)").body.contains("None of the open conflicts"))
        }
        // What was typed is text, in the form and in the address of the next one.
        let odd = try await browser.get("/conflicts?table=%22%3E%3Cb%3E&key=a%26b").body
        #expect(!odd.contains("<b>") && odd.contains(#"value="&quot;&gt;&lt;b&gt;""#), "\(odd)")

        let address = "/conflicts?key=p2"
        let answer = try await browser.post(
            address, [("dismiss", "\(second[0])")], csrf: try await browser.csrf("/conflicts"))
        #expect(answer.status == 303 && answer.head.lowercased().contains("location: /conflicts?key=p2"), "\(answer)")
        #expect(try open(path) == 2)
    }

    @Test("a form without the proof of its session, or of another site, changes nothing")
    func forgery() async throws {
        let (daemon, path) = try await start()
        let browser = Browser(daemon)
        try await browser.signIn("admin-secret")
        let other = Browser(daemon)
        try await other.signIn("admin-secret")
        let csrf = try await browser.csrf("/conflicts")
        let restore = [("restore", "1")]
        let proofs = [nil, "", csrf.dropLast() + "0", try await other.csrf("/conflicts"), csrf + csrf]
        for proof in proofs where proof != csrf {
            #expect(try await browser.post("/conflicts", restore, csrf: proof).status == 403, "\(proof ?? "none")")
        }
        for site in ["cross-site", "same-site"] {
            let answer = try await browser.post("/conflicts", restore, [("Sec-Fetch-Site", site)], csrf: csrf)
            #expect(answer.status == 403)
            #expect(
                try await browser.post("/login", [("token", "admin-secret")], [("Sec-Fetch-Site", site)]).status == 403)
        }
        let noForm = try await RawHTTP.request(
            "POST", "/conflicts", port: daemon.port,
            headers: [("Cookie", try #require(browser.cookie)), ("Content-Type", "text/plain")],
            body: Array("restore=1".utf8))
        #expect(noForm.status == 415)
        #expect(try open(path) == 1)
        #expect(
            try await browser.post("/conflicts", restore, [("Sec-Fetch-Site", "same-origin")], csrf: csrf).status == 303
        )
        #expect(try open(path) == 0)
        let end = await daemon.stop()
        #expect(!end.log.contains(csrf) && !end.log.contains("admin-secret"))
    }

    @Test("what cannot be done is a page with the reason and what to do, and changes nothing")
    func failures() async throws {
        let (daemon, path) = try await start()
        let browser = Browser(daemon)
        try await browser.signIn("admin-secret")
        let csrf = try await browser.csrf("/conflicts")
        let cases: [([(String, String)], Int)] = [
            ([("restore", "99")], 409), ([("restore", "1"), ("restore", "x")], 303), ([("restore", "x")], 400),
            ([("action", "restore")], 400), ([("id", "1")], 400), ([("id", "1"), ("action", "explode")], 400),
            ([], 400),
            ([("dismiss", "-1")], 409),
        ]
        for (fields, status) in cases where status != 303 {
            let answer = try await browser.post("/conflicts", fields, csrf: csrf)
            #expect(answer.status == status && answer.body.contains("That did not work"), "\(fields): \(answer)")
        }
        let broken = try await RawHTTP.request(
            "POST", "/login", port: daemon.port, headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array("token=%zz".utf8))
        #expect(broken.status == 400)
        #expect(try open(path) == 1)
    }

    @Test("hostile values are text on every page")
    func hostile() async throws {
        let value = "<script>alert(1)</script>\" onload='x' &amp; \u{202E}evil\u{0}"
        let literal = value.replacing("'", with: "''").replacing("\u{0}", with: "' || char(0) || '")
        let (daemon, path) = try await start(value: literal)
        try workspace.execute(path, #"CREATE TABLE "<b>loose" (x)"#)
        let browser = Browser(daemon)
        try await browser.signIn("admin-secret")
        for page in Self.paths + ["/history?table=person&key=p1", "/history?table=%3Cb%3E&key=%22%3E%3Cscript%3E"] {
            let answer = try await browser.get(page)
            #expect(answer.status == 200, "\(page): \(answer)")
            #expect(answer.body.split(separator: "<script").count <= 2)
            for text in ["<script>", "<b>", "onload='", "\u{202E}", "\u{0}"] {
                #expect(!answer.body.contains(text), "\(page): \(answer.body)")
            }
        }
        #expect(try await browser.get("/conflicts").body.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
        #expect(try await browser.get("/tables").body.contains("&lt;b&gt;loose"))
    }

    @Test("the history of a row has its changes, newest first; unknown rows and broken questions are no failure")
    func history() async throws {
        let (daemon, path) = try await start()
        try workspace.execute(path, "UPDATE person SET age = 50 WHERE id = 'p1'")
        let browser = Browser(daemon)
        try await browser.signIn("read-secret")
        let page = try await browser.get("/history?table=person&key=%5B%22p1%22%5D").body
        let newest = try #require(page.range(of: "age = 50"))
        let oldest = try #require(page.range(of: "name = &#39;name 1&#39;"))
        #expect(newest.lowerBound < oldest.lowerBound && page.contains("(here)"), "\(page)")
        #expect(try await browser.get("/history?table=person&key=nobody").body.contains("have none of this row"))
        for query in ["table=%zz&key=1", "table=&key=", "key=1", "&&&", "table=person"] {
            #expect(try await browser.get("/history?\(query)").status == 200)
        }
    }

    @Test("a session ends when its token is taken away")
    func revoked() async throws {
        let (daemon, _) = try await start()
        let browser = Browser(daemon)
        try await browser.signIn("read-secret")
        #expect(try await browser.get("/").status == 200)
        let left = try AccessTests.tokensFile().split(separator: "\n").filter { !$0.hasPrefix("name1 ") }
        _ = try workspace.write(left.joined(separator: "\n"), to: "tokens")
        let answer = try await RawHTTP.request(
            "POST", "/v1/admin/reload", port: daemon.port, headers: [("Authorization", "Bearer admin-secret")])
        #expect(answer.status == 200, "\(answer)")
        #expect(try await browser.get("/").status == 401)
    }

    @Test("without tokens, on loopback, the pages are open, and have no buttons")
    func openDaemon() async throws {
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        for path in Self.paths { #expect(try await Browser(daemon).get(path).status == 200) }
        #expect(try await Browser(daemon).get("/login").status == 303)
        #expect(try await Browser(daemon).post("/conflicts", [("restore", "1")]).status == 403)
        #expect(try await Browser(daemon).get("/", [("Host", "evil.example")]).status == 403)
    }
}

@Suite("Sessions of browsers")
struct SessionTests {
    private static let tokens = AccessTokens([
        .init(name: "a", scopes: [.admin], digest: [UInt8](repeating: 1, count: 32)),
        Token("secret").map(\.entry) ?? .init(name: "none", scopes: [], digest: []),
    ])

    /// The headers with which a browser sends a cookie.
    private func headers(_ cookie: String) -> HTTPFields { [.cookie: cookie] }

    @Test("a cookie counts for twelve hours, with its signature, for its replica and its key")
    func lifetime() throws {
        let key = [UInt8](repeating: 7, count: 32)
        func sessions(at time: Int64, name: String = "x", key: [UInt8] = key) -> Sessions {
            Sessions(name: name, isSecure: true, key: key, now: { time }, tokens: { Self.tokens })
        }
        let begun = try #require(sessions(at: 1_000).begin(token: "secret"))
        #expect(begun.scopes == [.replicate, .read] && begun.cookie.contains("; Secure"))
        #expect(sessions(at: 1_000).begin(token: "wrong") == nil)
        let fields = headers(String(begun.cookie.prefix { $0 != ";" }))
        let end = 1_000 + Sessions.duration
        let session = try #require(sessions(at: end - 1).session(of: fields))
        #expect(session.end == end && session.scopes == [.replicate, .read])
        #expect(sessions(at: end).session(of: fields) == nil)
        #expect(sessions(at: 1_000, name: "y").session(of: fields) == nil)
        #expect(sessions(at: 1_000, key: [UInt8](repeating: 8, count: 32)).session(of: fields) == nil)
        #expect(Sessions.accepts(session.csrf, of: session) && !Sessions.accepts(nil, of: session))
    }

    @Test("a cookie with any other character is none, and so are two cookies")
    func forged() throws {
        let sessions = Sessions(name: "x", isSecure: false, now: { 1_000 }, tokens: { Self.tokens })
        let begun = try #require(sessions.begin(token: "secret"))
        let value = String(begun.cookie.prefix { $0 != ";" })
        #expect(sessions.session(of: headers(value)) != nil)
        for index in value.indices where value[index] != "=" {
            var forged = value
            forged.replaceSubrange(index...index, with: value[index] == "1" ? "2" : "1")
            #expect(sessions.session(of: headers(forged)) == nil, "\(forged)")
        }
        for forged in ["", "syncd-x=", "syncd-x=...", value + "0", value + ".0", value + "; " + value] {
            #expect(sessions.session(of: headers(forged)) == nil, "\(forged)")
        }
    }
}

@Suite("The fields of a form")
struct FormDataTests {
    @Test("encoded text is decoded, in any characters")
    func text() throws {
        let text = "a b&c=d%+ü\u{1F600}\n"
        let form = try #require(FormData("x=\(FormData.encoded(text))&y&z=1+2&x=second"))
        #expect(form["x"] == text && form["y"] == "" && form["z"] == "1 2" && form["none"] == nil)
        #expect(form.all("x") == [text, "second"])
        #expect(try #require(FormData("")).fields.isEmpty)
    }

    @Test("what no browser sends is refused", arguments: ["a=%", "a=%1", "a=%zz", "a=%+1", "a=%ff", "%C3=1"])
    func broken(text: String) { #expect(FormData(text) == nil) }
}
