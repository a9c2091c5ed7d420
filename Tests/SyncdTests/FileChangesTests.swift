import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("Files that a configuration names")
struct FileChangesTests {
    let workspace = Workspace()

    private func mark(_ text: String, _ name: String = "file") throws -> FileMark {
        try #require(FileMark(try workspace.write(text, to: name)))
    }

    @Test("are read once after each change, when they stay the same for one look")
    func looks() throws {
        let (first, second, key) = (try mark("1", "a"), try mark("2", "b"), try mark("3", "c"))
        var changes = FileChanges()
        // Those of the beginning are read once more.
        #expect([["cert": first], ["cert": first], ["cert": first]].map { changes.look($0) } == [false, true, false])
        // The certificate is replaced, then the key is added: both are read together.
        let news = [["cert": second], ["cert": second, "key": key], ["cert": second, "key": key]]
        #expect(news.map { changes.look($0) } == [false, false, true])
        #expect(changes.look(["cert": second, "key": key]) == false)
        // A file that is gone for a moment and comes back as it was is no change.
        #expect(
            [[:], ["cert": second, "key": key], ["cert": second, "key": key]].map { changes.look($0) } == [
                false, false, false,
            ])
        // One that stays away is.
        #expect([["key": key], ["key": key]].map { changes.look($0) } == [false, true])
    }

    @Test("without files, nothing is read")
    func none() {
        var changes = FileChanges()
        #expect([[:], [:], [:]].map { changes.look($0) } == [false, false, false])
    }

    @Test("a mark changes with the content, with the file behind a link, and with nothing else")
    func marks() throws {
        let path = try workspace.write("1", to: "a")
        let before = FileMark(path)
        #expect(before != nil && before == FileMark(path))
        _ = try workspace.write("22", to: "a")
        #expect(FileMark(path) != before)
        _ = try workspace.write("22", to: "b")
        let link = workspace.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let linked = FileMark(link)
        #expect(linked == FileMark(path))
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: workspace.path("b"))
        #expect(FileMark(link) != linked)
        #expect(FileMark.all([link, workspace.path("none")]).keys.sorted() == [link])
    }

    @Test("are all tokens, certificates, keys and authorities, of peers and of all databases too")
    func named() throws {
        let text = """
            tls-client-ca: clients.pem
            databases:
              shop: {database: shop.sqlite, tls-cert: cert.pem, tls-key: key.pem}
              stock:
                database: stock.sqlite
                tokens: tokens
                token-file: token
                peer: [{url: "https://a:1", token-file: a.token, tls-ca: ca.pem, tls-cert: a.pem, tls-key: a.key}]
            """
        let read = try ConfigurationFile.load(try workspace.write(text, to: "all.yaml"))
        let names = [
            "clients.pem", "cert.pem", "key.pem", "tokens", "token", "a.token", "ca.pem", "a.pem", "a.key",
        ]
        #expect(read.configuration?.files == Set(names.map { workspace.path($0) }))
    }
}
