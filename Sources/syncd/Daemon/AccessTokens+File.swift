import Foundation
import Journal
import Sync

// The file of `--tokens`: one token or client certificate a line, as its name, its scopes, and the SHA-256 of the
// token's characters or what pins the certificate. With both, the caller needs both.
//
//     # comment
//     berlin   replicate        sha256:3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9
//     grafana  read             sha256:…
//     anna     replicate,admin  sha256:…
//     oslo     replicate        cert-name:oslo.example
//     lab      pull             cert-sha256:5E:88:…
//     bank     push             sha256:…  cert-name:bank.example
//     till     replicate        sha256:…  tables:price,receipt

extension AccessTokens {
    /// The size of the largest file of tokens.
    static let maximumBytes = 1 << 20
    /// The tokens that one name may have: the old and the new one.
    static let tokensPerName = 2
    /// The longest name, in characters.
    static let nameLength = 64

    static let kind = SecretFile.Kind(
        name: "tokens file", maximumBytes: maximumBytes,
        content:
            "It has one token or certificate a line: NAME SCOPE[,SCOPE…] sha256:DIGEST, cert-name:NAME or cert-sha256:FINGERPRINT, and perhaps tables:TABLE[,TABLE…]; `syncd token` adds a token",
        creation: { "Create it with: syncd token NAME --scope read --tokens \($0)" })

    /// Reads a file that only its owner can read.
    ///
    /// - Parameter isCredential: As for ``Token/load(from:isCredential:)``.
    /// - Throws: ``Failure`` when the file cannot be used; it names the line.
    static func load(from path: String, isCredential: Bool = false) throws -> AccessTokens {
        let text = try SecretFile(path, kind).text(isCredential: isCredential)
        let tokens = try AccessTokens(parsing: text, path: path)
        guard !tokens.isEmpty else {
            throw Failure("The tokens file \(path) has no token", hint: kind.creation(path))
        }
        return tokens
    }

    /// - Throws: ``Failure`` that names the first line with a mistake. It does not repeat what the line has,
    ///   which may be a token in the wrong place.
    init(parsing text: String, path: String) throws {
        var entries: [Entry] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            func mistake(_ message: String, hint: String = AccessTokens.kind.content) -> Failure {
                Failure("The tokens file \(path) has a mistake in line \(index + 1): \(message)", hint: hint)
            }
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            let named = words.dropFirst(2).filter { $0.hasPrefix(AccessTokens.tablesPrefix) }
            let credentials = words.dropFirst(2).filter { !$0.hasPrefix(AccessTokens.tablesPrefix) }
            guard
                credentials.count == 1
                    || credentials.count == 2
                        && credentials.contains(where: { $0.hasPrefix(CertificatePin.prefix) })
            else { throw mistake("it does not have three words, or four with a certificate") }
            guard named.count <= 1 else {
                throw mistake("it has two lists of tables", hint: "One list has all of them: tables:a,b")
            }
            guard AccessTokens.isName(first) else {
                throw mistake("the name has characters that it cannot have, or is too long")
            }
            let scopes = words[1].split(separator: ",", omittingEmptySubsequences: false).map {
                TokenScope(rawValue: String($0))
            }
            guard !scopes.contains(nil) else {
                throw mistake("unknown scope", hint: "The scopes are: \(AccessTokens.scopeNames)")
            }
            var digest: [UInt8]?
            var certificate: CertificatePin?
            for word in credentials {
                if word.hasPrefix(CertificatePin.prefix), certificate == nil {
                    certificate = CertificatePin(word)
                    guard certificate != nil else {
                        throw mistake(
                            "this is no name or fingerprint of a certificate",
                            hint:
                                "It is cert-name:NAME with a name of the certificate, or cert-sha256: and 64 hexadecimal digits"
                        )
                    }
                } else {
                    guard digest == nil, let parsed = AccessTokens.digest(word) else {
                        throw mistake("the last word is not sha256: and 64 hexadecimal digits")
                    }
                    digest = parsed
                }
            }
            let tables = try named.first.map { word in
                let names = word.dropFirst(AccessTokens.tablesPrefix.count)
                    .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                guard !names.contains(""), let tables = TableScope(names) else {
                    throw mistake("its list of tables has an empty name", hint: "The list is tables:a or tables:a,b")
                }
                return tables
            }
            let entry = Entry(
                name: String(first), scopes: Set(scopes.compactMap { $0 }), digest: digest, certificate: certificate,
                tables: tables)
            if tables != nil, let scope = entry.scopes.first(where: { !AccessTokens.limitable.contains($0) }) {
                throw mistake(
                    "a line with tables cannot have the scope \(scope.rawValue), which shows all tables",
                    hint: "Such a line has replicate, pull or push; another line may have \(scope.rawValue)")
            }
            guard !entries.contains(where: { $0.isRedundant(with: entry) }) else {
                throw mistake(
                    "this token or certificate is there twice", hint: "Give each peer and person one of its own")
            }
            guard entries.count(where: { $0.name == entry.name }) < AccessTokens.tokensPerName else {
                throw mistake(
                    "\(entry.name) has more than two tokens or certificates",
                    hint: "Remove the line of one that is no longer used")
            }
            entries.append(entry)
        }
        self.init(entries)
    }

    static var scopeNames: String { TokenScope.allCases.map(\.rawValue).joined(separator: ", ") }

    static func isName(_ text: some StringProtocol) -> Bool {
        (1...nameLength).contains(text.utf8.count) && !text.hasPrefix("#")
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The scopes that a line with tables may have.
    static let limitable: Set<TokenScope> = [.replicate, .pull, .push]

    /// True for the name of a table that the file can hold.
    static func isTable(_ name: String) -> Bool {
        !name.isEmpty && !name.contains { $0.isWhitespace || $0.isNewline || $0 == "," }
    }

    /// The line of the file for a token.
    static func line(_ name: String, _ scopes: [TokenScope], _ token: Token, tables: TableScope? = nil) -> String {
        let digits = token.digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let list = tables.map { " \(tablesPrefix)\($0.tables.joined(separator: ","))" } ?? ""
        return "\(name) \(scopes.map(\.rawValue).joined(separator: ",")) \(digestPrefix)\(digits)\(list)"
    }

    private static let tablesPrefix = "tables:"
    private static let digestPrefix = "sha256:"

    private static func digest(_ word: Substring) -> [UInt8]? {
        guard word.hasPrefix(digestPrefix) else { return nil }
        return bytes(hexadecimal: word.dropFirst(digestPrefix.count))
    }

    /// The 32 bytes of a digest in hexadecimal digits; nil for any other text.
    static func bytes(hexadecimal text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 2 * SHA256.byteCount else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { start -> UInt8? in
            let pair = digits[start...start + 1]
            guard pair.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
            return UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
        }
        return bytes.count == SHA256.byteCount ? bytes : nil
    }
}

extension AccessTokens.Entry {
    /// True when a caller could not be told to be of one of the two entries: they have the same token, or the same
    /// certificate without a token.
    fileprivate func isRedundant(with other: AccessTokens.Entry) -> Bool {
        guard digest == other.digest else { return false }
        return certificate == other.certificate || digest != nil && (certificate == nil || other.certificate == nil)
    }
}
