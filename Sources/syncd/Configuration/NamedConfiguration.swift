/// One of several databases in a configuration.
struct NamedConfiguration: Sendable, Hashable {
    /// What log lines and reloads call it.
    let name: String
    /// Its own settings, and those that it takes from the top of the file.
    var configuration: Configuration
    /// Where the file has the name; nil for none.
    let place: ConfigurationPlace?

    /// What a name must look like, for messages.
    static let form = "1 to 64 letters of ASCII, digits, - and _"

    /// A full stop would separate the name from a key.
    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
