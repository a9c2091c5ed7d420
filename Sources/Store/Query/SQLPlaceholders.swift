import Journal

/// Finds `$T` and `$PK` in SQL as SQLite's tokenizer would: not in literals, quoted names or comments, and
/// not as the start of a longer name such as `$Table`, which is a parameter of SQLite.
enum SQLPlaceholders {
    static func expand(_ sql: String, table: String, key: String) -> String {
        let bytes = Array(sql.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 32)
        var index = 0
        while index < bytes.count {
            let end = SQLToken.endOfOpaque(bytes, from: index)
            if end > index {
                output.append(contentsOf: bytes[index..<end])
                index = end
            } else if bytes[index] == UInt8(ascii: "$") {
                let name = bytes[(index + 1)...].prefix(while: isNameByte)
                switch String(decoding: name, as: UTF8.self) {
                case "T": output.append(contentsOf: table.utf8)
                case "PK": output.append(contentsOf: key.utf8)
                default: output.append(contentsOf: bytes[index..<name.endIndex])
                }
                index = name.endIndex
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Replaces the parameters with one of `names` by `?`.
    ///
    /// - Returns: The text, and the names of the `?` in their order. Parameters with other names are not
    ///   changed.
    static func positional(_ sql: String, names: Set<String>) -> (text: String, names: [String]) {
        let bytes = Array(sql.utf8)
        let marks = [UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$")]
        var output: [UInt8] = []
        var found: [String] = []
        var index = 0
        while index < bytes.count {
            let end = SQLToken.endOfOpaque(bytes, from: index)
            if end > index {
                output.append(contentsOf: bytes[index..<end])
                index = end
                continue
            }
            if marks.contains(bytes[index]) {
                let name = bytes[(index + 1)...].prefix(while: isNameByte)
                let text = String(decoding: name, as: UTF8.self)
                if names.contains(text) {
                    output.append(UInt8(ascii: "?"))
                    found.append(text)
                    index = name.endIndex
                    continue
                }
            }
            output.append(bytes[index])
            index += 1
        }
        return (String(decoding: output, as: UTF8.self), found)
    }

    /// The first keyword in upper case, after white space and comments.
    static func keyword(_ sql: String) -> String {
        let bytes = Array(sql.utf8)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "/") {
                let end = SQLToken.endOfOpaque(bytes, from: index)
                if end == index { break }
                index = end
            } else if isNameByte(byte) {
                break
            } else {
                index += 1
            }
        }
        return String(decoding: bytes[min(index, bytes.count)...].prefix(while: isNameByte), as: UTF8.self).uppercased()
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
            true
        default: false
        }
    }
}
