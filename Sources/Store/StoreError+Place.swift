import Journal

// Which row an error is about, and how many things it counts.

extension StoreError {
    /// Returns this error with the key of the row concerned, unless it has one already.
    func of(key values: [Value]) -> StoreError {
        var error = self
        if error.key == nil, !values.isEmpty { error.key = values }
        return error
    }

    /// Returns this error with the key of the row concerned, unless it has one already.
    func of<M: Model>(_ type: M.Type, _ key: M.ID) -> StoreError {
        guard self.key == nil, let values = try? M.Fields._keyValues(key) else { return self }
        return of(key: values)
    }

    /// Returns this error with the place of its row in an imported array of `count` elements, unless there is only
    /// one.
    func inElement(_ index: Int, of count: Int) -> StoreError {
        if count == 1 { return self }
        var error = StoreError(
            code, "Element \(index + 1) of \(count): \(message)", hint: hint, table: table, column: column,
            operation: operation, sqliteCode: sqliteCode, sql: sql)
        error.key = key
        return error
    }

    /// Returns this error with the operation whose values could not be set.
    func setting(during operation: String) -> StoreError {
        var error = self
        if error.operation == nil || error.operation == "setting" { error.operation = operation }
        return error
    }

    /// Returns this error with the statement that failed, unless it has one already.
    func of(sql: String) -> StoreError {
        var error = self
        error.sql = error.sql ?? sql
        return error
    }

    /// Returns this error with the column of a model whose values a statement computes.
    func of(column: String) -> StoreError {
        var error = self
        error.column = column
        return error
    }

    /// Returns the error of a result that belongs to no property. The column of such a result is called like its
    /// expression, which may contain values, so only a plain name stays.
    var ofResult: StoreError {
        guard code == .undecodable else { return self }
        let isName = column?.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } == true && column != "NULL"
        return StoreError(
            code, message, hint: "Ask for another type, or for an optional one where NULL may occur.", table: table,
            column: isName ? column : nil, operation: operation, sql: sql)
    }

    /// The key for the description: integers and UUIDs, which tell nothing about a person. Other keys may.
    var plainKey: String? {
        guard let key else { return nil }
        let texts = key.compactMap { value -> String? in
            switch value {
            case .integer(let number): return String(number)
            case .text(let bytes) where StoreError.isUUID(bytes): return String(decoding: bytes, as: UTF8.self)
            default: return nil
            }
        }
        return texts.count == key.count ? texts.joined(separator: ", ") : nil
    }

    private static func isUUID(_ bytes: Bytes) -> Bool {
        bytes.count == 36
            && bytes.enumerated().allSatisfy { index, byte in
                switch byte {
                case UInt8(ascii: "-"): [8, 13, 18, 23].contains(index)
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    true
                default: false
                }
            }
    }

    /// A number with its noun: `1 row`, `2 rows`.
    static func count(_ number: Int, _ noun: String) -> String { number == 1 ? "1 \(noun)" : "\(number) \(noun)s" }

    /// What a person is told when no property or column has the name that was given.
    static func names(_ kind: (one: String, many: String), _ names: [String]) -> String {
        names.count == 1
            ? "Its only \(kind.one) is \(names[0])." : "Its \(kind.many) are \(names.joined(separator: ", "))."
    }
}

extension PreparedStatement {
    /// Reads the current row of a SELECT of the model's columns; an error names the row's key.
    func decode<M: Model, Element>(_ type: M.Type, _ read: (RowCursor) throws -> Element) throws -> Element {
        do {
            return try read(row)
        } catch let error as StoreError {
            let values = values
            throw error.of(key: M.schema.key.map { values[$0] }).of(sql: text)
        }
    }
}
