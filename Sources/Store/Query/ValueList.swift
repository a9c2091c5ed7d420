import Journal

/// The right side of `IN` for any number of values.
///
/// SQLite limits the number of parameters (https://sqlite.org/limits.html#max_variable_number), and each
/// number of parameters is another statement to prepare. Therefore a long list is passed as one JSON text.
/// JSON holds integers and texts exactly. Blobs, and texts with a NUL, at which SQLite's JSON functions end a
/// text, are passed as hexadecimal digits. Reals would lose bits in JSON, so they stay parameters.
struct ValueList<M: TableModel> {
    /// The maximum number of values that are passed as one parameter each.
    static var shortLimit: Int { 500 }
    /// The maximum number of reals in a long list, which are passed as parameters. SQLite's default limit is
    /// 32 766 parameters.
    static var parameterLimit: Int { 30_000 }

    private let values: [Template<M>]

    init(_ values: [Template<M>]) { self.values = values }

    /// Returns the condition that `column` holds one of the values. NULL among the values matches NULL in the
    /// column.
    func contains(_ column: Template<M>) -> Template<M> {
        var conditions: [Template<M>] = []
        var plain: [SQL] = []
        for value in values {
            if value.isNull {
                if conditions.isEmpty { conditions.append(column + " IS NULL") }
            } else if case .sql(let sql) = value.parts.first {
                plain.append(sql)
            } else {
                return value
            }
        }
        if plain.count <= ValueList.shortLimit {
            conditions.append(parameters(plain, column))
        } else {
            conditions.append(contentsOf: long(plain, column))
        }
        guard conditions.count > 1 else { return conditions.first ?? Template("0") }
        return "(" + conditions.dropFirst().reduce(conditions[0]) { $0 + " OR " + $1 } + ")"
    }

    private func parameters(_ values: [SQL], _ column: Template<M>) -> Template<M> {
        // An empty list is an empty set in SQLite.
        var list = SQL(raw: Array(repeating: "?", count: values.count).joined(separator: ", "))
        list.bind(values.flatMap(\.bindings))
        return column + " IN (" + Template(list) + ")"
    }

    private func long(_ values: [SQL], _ column: Template<M>) -> [Template<M>] {
        var json: [String] = []
        var hex: [String] = []
        var others: [SQL] = []
        for sql in values {
            switch sql.bindings.first as? Value {
            case .integer(let number): json.append(String(number))
            case .text(let bytes) where !bytes.contains(0): json.append(ValueList.jsonText(bytes))
            case .text(let bytes): hex.append("\"t\(ValueList.hexadecimal(bytes))\"")
            case .blob(let bytes): hex.append("\"b\(ValueList.hexadecimal(bytes))\"")
            default: others.append(sql)
            }
        }
        var conditions: [Template<M>] = []
        if !json.isEmpty {
            let array = "[\(json.joined(separator: ","))]"
            conditions.append(column + Template(" IN (SELECT value FROM json_each(\(array)))"))
        }
        if !hex.isEmpty {
            let array = "[\(hex.joined(separator: ","))]"
            conditions.append(
                "substr(typeof(" + column + "), 1, 1) || hex(" + column
                    + Template(") IN (SELECT value FROM json_each(\(array)))"))
        }
        if others.count > ValueList.parameterLimit {
            return [
                Template([
                    .failure(
                        StoreError(
                            .argumentCount, "\(others.count) values of a list are too many parameters",
                            hint: "Split the list, or put the values into a table and join it.",
                            table: M.schema.table))
                ])
            ]
        }
        if !others.isEmpty { conditions.append(parameters(others, column)) }
        return conditions
    }

    private static func jsonText(_ bytes: Bytes) -> String {
        var text = "\""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{1}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    private static func hexadecimal(_ bytes: Bytes) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
