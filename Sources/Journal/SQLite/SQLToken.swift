/// A piece of SQL text: a word, number, string, quoted name or one other character. Comments and white space
/// are dropped.
package struct SQLToken {
    package let text: String

    /// The text without the quotes around a quoted name.
    package var name: String {
        guard let first = text.first, let last = text.last, text.utf8.count >= 2 else { return text }
        switch (first, last) {
        case ("[", "]"): return String(text.dropFirst().dropLast())
        case ("\"", "\""), ("`", "`"), ("'", "'"):
            var name = ""
            var isDoubled = false
            for character in text.unicodeScalars.dropFirst().dropLast() {
                isDoubled = character == first.unicodeScalars.first && !isDoubled
                if !isDoubled { name.unicodeScalars.append(character) }
            }
            return name
        default: return text
        }
    }

    /// The columns of the new row that a trigger's text names, in its order. RENAME COLUMN writes the new
    /// name into the trigger (https://sqlite.org/lang_altertable.html, section 3), so the text tells which
    /// column became which.
    package static func newColumns(in trigger: String) -> [String] {
        let tokens = scan(trigger)
        return zip(tokens, tokens.dropFirst()).filter { $0.0.text.uppercased() == "NEW." }.map(\.1.name)
    }

    package static func scan(_ sql: String) -> [SQLToken] {
        let bytes = Array(sql.utf8)
        var tokens: [SQLToken] = []
        var index = 0
        func isWord(_ byte: UInt8) -> Bool {
            byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte == UInt8(ascii: ".")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        while index < bytes.count {
            let start = index
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            index = endOfOpaque(bytes, from: start)
            switch byte {
            case UInt8(ascii: "-") where index > start, UInt8(ascii: "/") where index > start: continue
            case _ where index > start: break
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0x0C:
                index += 1
                continue
            case _ where isWord(byte):
                // X'…' is one blob literal. A number such as 1e+5 stays one token, because tokens are later
                // joined with spaces.
                while index < bytes.count,
                    isWord(bytes[index])
                        || ((bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-"))
                            && bytes[index - 1] | 0x20 == UInt8(ascii: "e")
                            && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte))
                { index += 1 }
                if index - start == 1, byte | 0x20 == UInt8(ascii: "x"), index < bytes.count,
                    bytes[index] == UInt8(ascii: "'")
                {
                    index = endOfOpaque(bytes, from: index)
                }
            case UInt8(ascii: "|") where next == byte, UInt8(ascii: "<") where next == byte,
                UInt8(ascii: ">") where next == byte, UInt8(ascii: "=") where next == byte,
                UInt8(ascii: "<") where next == UInt8(ascii: "=") || next == UInt8(ascii: ">"),
                UInt8(ascii: ">") where next == UInt8(ascii: "="), UInt8(ascii: "!") where next == UInt8(ascii: "="):
                index += 2
            case UInt8(ascii: "-") where next == UInt8(ascii: ">"):
                index += 2
                if index < bytes.count, bytes[index] == UInt8(ascii: ">") { index += 1 }
            default: index += 1
            }
            tokens.append(SQLToken(text: String(decoding: bytes[start..<min(index, bytes.count)], as: UTF8.self)))
        }
        return tokens
    }

    /// Returns the end of the literal, quoted name or comment that starts at `start`; `start` when none does.
    /// An unclosed one reaches to the end of the text.
    package static func endOfOpaque(_ bytes: [UInt8], from start: Int) -> Int {
        let next = start + 1 < bytes.count ? bytes[start + 1] : 0
        func end(after closing: UInt8, from index: Int) -> Int {
            (bytes[index...].firstIndex(of: closing) ?? bytes.count - 1) + 1
        }
        switch bytes[start] {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            var index = end(after: bytes[start], from: start + 1)
            // A doubled quote denotes the quote itself.
            while index < bytes.count, bytes[index] == bytes[start] {
                index = end(after: bytes[start], from: index + 1)
            }
            return index
        case UInt8(ascii: "["): return end(after: UInt8(ascii: "]"), from: start + 1)
        case UInt8(ascii: "-") where next == UInt8(ascii: "-"):
            return end(after: UInt8(ascii: "\n"), from: start + 1)
        case UInt8(ascii: "/") where next == UInt8(ascii: "*"):
            var index = start + 2
            while index + 1 < bytes.count, bytes[index] != UInt8(ascii: "*") || bytes[index + 1] != UInt8(ascii: "/") {
                index += 1
            }
            return min(index + 2, bytes.count)
        default: return start
        }
    }
}
