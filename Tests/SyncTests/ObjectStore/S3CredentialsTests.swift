import Foundation
import TestSupport
import Testing

@testable import Sync

@Suite struct S3CredentialsTests {
    private let directory = TemporaryDirectory()

    @discardableResult
    private func file(_ text: String, mode: Int = 0o600) throws -> String {
        let path = directory.file("credentials")
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func source(_ more: [String: String] = [:]) throws -> S3CredentialSource {
        let file = ["AWS_SHARED_CREDENTIALS_FILE": directory.file("credentials")]
        return try S3CredentialSource(environment: file.merging(more) { _, new in new })
    }

    private func failure(_ body: () throws -> Void) throws -> SyncError {
        let error = #expect(throws: SyncError.self) { try body() }
        #expect(error?.code == .configuration)
        #expect(error.map { "\($0)".contains("canary") } == false)
        return try #require(error)
    }

    @Test("the environment comes before the file")
    func environment() throws {
        try file("[default]\naws_access_key_id = F\naws_secret_access_key = S\n")
        let keys = ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "T"]
        let plain = try source(keys).current()
        #expect((plain.accessKey, plain.secretKey) == ("E", "T"))
        #expect(plain.sessionToken == nil)
        let token = try source(keys.merging(["AWS_SESSION_TOKEN": "U"]) { $1 }).current()
        #expect(token.sessionToken == "U")
        let empty = try source(["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""]).current()
        #expect(empty.accessKey == "F")
    }

    @Test("a file is read as other tools read it")
    func profiles() throws {
        let text = """
            # aws_access_key_id = no
            ; aws_access_key_id = no
            aws_access_key_id = nobody's
            [default]
            aws_access_key_id=A#1
            aws_secret_access_key = s3cr+t/==   # a comment
            region = nowhere
            s3 =
              max_concurrent_requests = 20

            [ other ] ; the second one
              AWS_ACCESS_KEY_ID = B
              aws_secret_access_key\t=\tT;x\t; a comment
              aws_session_token = U==
            [half]
            aws_access_key_id = C
            """
        try file(text.replacingOccurrences(of: "\n", with: "\r\n"))
        let first = try source().current()
        #expect(first.accessKey == "A#1")
        #expect(first.secretKey == "s3cr+t/==")
        #expect(first.sessionToken == nil)
        let second = try source(["AWS_PROFILE": "other"]).current()
        #expect(second.accessKey == "B")
        #expect(second.secretKey == "T;x")
        #expect(second.sessionToken == "U==")
        #expect(try failure { _ = try source(["AWS_PROFILE": "half"]).current() }.message.contains("[half]"))
        #expect(try failure { _ = try source(["AWS_PROFILE": "none"]).current() }.hint?.contains("AWS_PROFILE") == true)
    }

    @Test("without a name for it, the file is in the home directory")
    func home() throws {
        try FileManager.default.createDirectory(atPath: directory.file(".aws"), withIntermediateDirectories: true)
        try file("[default]\naws_access_key_id = H\naws_secret_access_key = S\n")
        try FileManager.default.moveItem(
            atPath: directory.file("credentials"), toPath: directory.file(".aws/credentials"))
        #expect(try S3CredentialSource(environment: ["HOME": directory.path]).current().accessKey == "H")
        let named = ["HOME": directory.path, "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials"]
        #expect(try S3CredentialSource(environment: named).current().accessKey == "H")
        #expect(
            try failure { _ = try S3CredentialSource(environment: [:]) }.hint?.contains("AWS_ACCESS_KEY_ID") == true)
    }

    @Test("half of the keys is a mistake", arguments: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
    func half(name: String) throws {
        _ = try failure { _ = try source([name: "canary"]) }
    }

    @Test("keys that could break a header line are refused, without being repeated")
    func characters() throws {
        for bad in ["canary x", "canary\r\nX: y", "canaryé", "canary\u{0}"] {
            let keys = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"]
            for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
                _ = try failure { _ = try source(keys.merging([name: bad]) { $1 }) }
            }
        }
    }

    @Test("a file that others may read or write is refused", arguments: [0o640, 0o604, 0o602, 0o660])
    func permissions(mode: Int) throws {
        try file("[default]\naws_access_key_id = A\naws_secret_access_key = canary\n", mode: mode)
        let error = try failure { _ = try source().current() }
        #expect(error.hint?.contains("chmod 600") == true)
        // systemd keeps its own directory private.
        #expect(try source(["CREDENTIALS_DIRECTORY": directory.path]).current().accessKey == "A")
    }

    @Test("a file that is missing, no file or too long is refused")
    func unusable() throws {
        #expect(try failure { _ = try source().current() }.hint != nil)
        try FileManager.default.createDirectory(
            atPath: directory.file("credentials"), withIntermediateDirectories: true)
        _ = try failure { _ = try source().current() }
        try FileManager.default.removeItem(atPath: directory.file("credentials"))
        try file(String(repeating: "#", count: 1 << 20) + "\n")
        _ = try failure { _ = try source().current() }
    }

    @Test("a changed file is read again")
    func changes() throws {
        func text(_ key: String) -> String { "[default]\naws_access_key_id = \(key)\naws_secret_access_key = S\n" }
        try file(text("A"))
        let source = try source()
        let first = try source.current()
        #expect(first.accessKey == "A")
        #expect(try source.renewed(after: first) == nil)
        try file(text("LONGER"))
        #expect(try source.current().accessKey == "LONGER")
        try file(text("B"))
        #expect(try source.renewed(after: first)?.accessKey == "B")
    }

    @Test("credentials print as a placeholder")
    func printing() throws {
        let keys = try S3Credentials(accessKey: "A", secretKey: "canary", sessionToken: "canary", source: "a test")
        let source = try source(["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "canary"])
        var dumped = ""
        dump(keys, to: &dumped)
        for text in [
            "\(keys)", String(reflecting: keys), dumped, "\(source)",
            "\(S3Store(try S3Address("s3://shop", environment: [:]), credentials: source))",
        ] {
            #expect(!text.contains("canary"))
        }
    }
}
