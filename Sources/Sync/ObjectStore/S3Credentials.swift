/// What signs the requests to an S3 server. It prints as a placeholder, so that it cannot get into a log by accident.
package struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let accessKey: String
    let secretKey: String
    /// What temporary keys come with; nil for lasting ones.
    let sessionToken: String?

    /// - Parameter source: Where they come from, for the message.
    /// - Throws: ``SyncError/Code/configuration`` for an empty part, and for one with other characters than visible
    ///   ASCII, which could break a header line.
    package init(accessKey: String, secretKey: String, sessionToken: String? = nil, source: String) throws(SyncError) {
        for part in [accessKey, secretKey, sessionToken].compactMap({ $0 }) {
            guard !part.isEmpty, part.utf8.count <= 16_384, part.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw SyncError(
                    .configuration,
                    "The keys for the object store in \(source) are empty or have characters that keys cannot have",
                    hint: "Copy them again, each on one line, without quotation marks and spaces.")
            }
        }
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    /// True when a text of a server repeats a part that must stay secret.
    func appear(in text: String) -> Bool { text.contains(secretKey) || sessionToken.map(text.contains) == true }

    package var description: String { "<credentials>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
