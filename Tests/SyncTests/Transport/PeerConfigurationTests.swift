import Testing

@testable import Sync

@Suite struct PeerConfigurationTests {
    @Test("an address is a host and a port, or a file")
    func addresses() throws {
        #expect(try PeerConfiguration("http://b:7337").address == .http("http://b:7337"))
        #expect(try PeerConfiguration("HTTPS://b/").address == .http("https://b"))
        #expect(try PeerConfiguration("http://[::1]:80").address == .http("http://[::1]:80"))
        #expect(try PeerConfiguration("http://[fe80::1%25eth0]:80").address == .http("http://[fe80::1%25eth0]:80"))
        #expect(try PeerConfiguration("/data/b.sqlite").address == .file("/data/b.sqlite"))
        #expect(try PeerConfiguration("b.sqlite").name == "b.sqlite")
    }

    @Test(
        "other addresses are refused, and user info is never repeated",
        arguments: [
            "", "http://", "ftp://b", "http://user:canary@b:1", "http://canary@b",
            "http://b/path", "http://b?q=1", "http://b#f", "gopher://b:70/_x", "http://b:port", "://",
            "http://b%0A", "http://%12b:1",
        ])
    func refused(address: String) {
        do {
            _ = try PeerConfiguration(address)
            Issue.record("\(address) was accepted")
        } catch {
            #expect(error.code == .configuration)
            #expect(!"\(error)".contains("canary"))
        }
    }

    @Test("a token prints as a placeholder")
    func token() throws {
        let token = try BearerToken("canary")
        let peer = try PeerConfiguration("http://b:1", token: token)
        var dumped = ""
        dump(peer, to: &dumped)
        for text in ["\(token)", "\(peer)", String(reflecting: token), String(reflecting: peer), dumped] {
            #expect(!text.contains("canary"))
        }
    }

    @Test(
        "a token that travels unencrypted to another machine is warned about, without the token",
        arguments: [
            ("http://b:1", true), ("http://10.0.0.7:7707", true), ("http://127.b.example:1", true),
            ("http://[2001:db8::1]:1", true), ("http://localhost.example", true), ("https://b:1", false),
            ("http://127.0.0.1:1", false), ("http://127.1.2.3", false), ("http://localhost:1", false),
            ("http://[::1]:1", false), ("b.sqlite", false),
        ])
    func exposure(address: String, isExposed: Bool) throws {
        let peer = try PeerConfiguration(address, token: BearerToken("canary"))
        #expect((peer.exposure != nil) == isExposed)
        #expect(peer.exposure?.contains("canary") != true)
        #expect(try PeerConfiguration(address).exposure == nil)
    }

    @Test("a token that could break a header line is refused", arguments: ["", " ", "a b", "a\r\nX: y", "é", "a\u{0}"])
    func badTokens(token: String) {
        #expect(throws: SyncError.self) { try BearerToken(token) }
    }
}
