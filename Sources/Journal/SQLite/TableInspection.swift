import GRDB
import GRDBSQLite

/// The properties of one table of the user's schema that capture and merging need, as SQLite reports them.
package struct TableInspection: Sendable, Hashable {
    /// One column, as `pragma_table_xinfo` reports it (https://sqlite.org/pragma.html#pragma_table_xinfo).
    package struct Column: Sendable, Hashable {
        /// The name as the schema spells it.
        package let name: String
        /// The declared type as the schema spells it; empty when there is none.
        package let declaredType: String
        /// The collation by which the column compares text, BINARY by default.
        package let collation: String
        /// The collation by which the primary key compares the column, where that is another one:
        /// `PRIMARY KEY (k COLLATE NOCASE)`. nil otherwise.
        package let keyCollation: String?
        /// How ``collation`` compares text; see ``CollationMap``.
        package let comparison: KeyCollation
        /// How the primary key compares the column.
        package let keyComparison: KeyCollation
        /// The position in the key (``KeyIndex``), from 1 on; 0 for a column that is not part of it.
        package let keyPosition: Int
        /// True when the column is declared NOT NULL.
        package let isNotNull: Bool
        /// True for a generated column, stored or virtual.
        package let isGenerated: Bool
        /// The SQL text of the DEFAULT clause.
        package let defaultSQL: String?

        /// True when two different storage classes can compare equal in this column (1 and 1.0): the column
        /// has BLOB affinity (https://sqlite.org/datatype3.html, section 3.1) or the type ANY.
        var keepsNumericClass: Bool {
            let type = declaredType.uppercased()
            if type == "ANY" { return true }
            return type.isEmpty
                || (type.contains("BLOB") && !type.contains("INT") && !type.contains("CHAR") && !type.contains("CLOB")
                    && !type.contains("TEXT"))
        }

        /// The DEFAULT clause as an expression that SQLite reads in the same way outside of CREATE TABLE; nil
        /// when there is none. In the clause, a name that is no keyword is a string, quoted or not: `DEFAULT
        /// "new"` and `DEFAULT new` mean 'new' (https://sqlite.org/quirks.html, section 8).
        package var defaultExpression: String? {
            guard let text = defaultSQL else { return nil }
            let tokens = SQLToken.scan(text)
            guard tokens.count == 1, let token = tokens.first, let first = token.text.unicodeScalars.first else {
                return text
            }
            let isQuoted = ["\"", "`", "["].contains(first)
            let isWord = first == "_" || first.properties.isAlphabetic || !first.isASCII
            let isBlob = token.text.uppercased().hasPrefix("X'")
            guard isQuoted || isWord && !isBlob && !Column.keywords.contains(token.text.uppercased()) else {
                return text
            }
            return SQLText.quote(literal: token.name)
        }

        /// The words that are values as a DEFAULT clause.
        private static let keywords: Set = [
            "NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP",
        ]

        /// False for a default that may differ from one use to the next, for example CURRENT_TIMESTAMP.
        package var hasLiteralDefault: Bool {
            guard let text = defaultExpression else { return true }
            let words = SQLToken.scan(text).map { $0.text.uppercased() }
            return words.allSatisfy { word in
                word == "(" || word == ")" || word == "+" || word == "-" || word == "NULL" || word == "TRUE"
                    || word == "FALSE"
                    || word.hasPrefix("'") || word.hasPrefix("X'") || word.first?.isNumber == true
                    || word.hasPrefix(".")
            }
        }

        /// Evaluates the DEFAULT clause; nil when the column has none.
        ///
        /// - Parameter db: A connection of the file with the column's schema. SQLite has already parsed the
        ///   clause there.
        /// - Throws: ``JournalError`` with the code for the SQLite error.
        package func defaultValue(_ db: Database) throws -> Value? {
            guard let defaultExpression else { return nil }
            let statement = try RawStatement(db, "SELECT \(defaultExpression)")
            return try statement.step() ? statement.column(0) : nil
        }
    }

    /// The name as the schema spells it.
    package let name: String
    /// All columns in table order, including generated ones. Hidden columns exist only in virtual tables,
    /// which are never inspected.
    package let columns: [Column]
    /// True for a WITHOUT ROWID table.
    package let isWithoutRowid: Bool
    /// True for a STRICT table.
    package let isStrict: Bool

    /// The stored columns, primary key first, in the order of ``TableShape/columns``.
    package let stored: [Column]
    /// The number of columns in the primary key; 0 for a table without one.
    package let keyCount: Int

    /// The table as journal entries describe it.
    package var shape: TableShape {
        TableShape(table: name, columns: stored.map(\.name), keyCount: keyCount)
    }

    /// The positions of the ``stored`` columns in the order in which a record of the table has them
    /// (https://sqlite.org/fileformat2.html#representation_of_sql_tables).
    package var recordOrder: [Int] {
        guard !isWithoutRowid else { return Array(stored.indices) }
        return columns.compactMap { column in stored.firstIndex { $0.name == column.name } }
    }

    /// Returns the values of the primary key in `image`, in key order; nil when one of them is missing.
    package func key(of image: RowImage) -> [Value]? {
        let values = stored.prefix(keyCount).compactMap { image.columns[$0.name] }
        return values.count == keyCount ? values : nil
    }

    /// The collations of the key columns, in key order. A collation that a program defined counts as BINARY,
    /// unless the file maps it to another one.
    package var keyCollations: [KeyCollation] { stored.prefix(keyCount).map(\.keyComparison) }

    /// The key columns in SQL, in key order, as the primary key compares them.
    package var keyTerms: [String] {
        stored.prefix(keyCount).map { column in
            let name = SQLText.quote(identifier: column.name)
            return column.keyCollation.map { "\(name) COLLATE \(SQLText.quote(identifier: $0))" } ?? name
        }
    }

    /// SQL that is true for the row with a key.
    ///
    /// - Parameter comparison: What follows each column, with a parameter.
    package func keyCondition(_ comparison: String = "= ?") -> String {
        keyTerms.map { "\($0) \(comparison)" }.joined(separator: " AND ")
    }

    /// True when keys with different content can denote one row: texts that the collation considers equal, or
    /// 1 and 1.0.
    package var hasKeySpellings: Bool {
        keyCollations.contains { $0 != .binary } || stored.prefix(keyCount).contains(where: \.keepsNumericClass)
    }

    /// True when the only key column is an alias of the rowid, so that SQLite generates a key that an INSERT
    /// omits.
    package let hasRowidKey: Bool
}

extension TableInspection {
    /// Returns the ordinary tables of the user in the main schema, by name. Tables of Tandem and SQLite,
    /// virtual and shadow tables, and views are left out.
    ///
    /// - Throws: Errors of SQLite.
    package static func all(_ db: Database) throws -> [TableInspection] {
        let map = try CollationMap(db)
        return try Row.fetchAll(
            db,
            sql: """
                SELECT name, wr, strict FROM pragma_table_list
                WHERE schema = 'main' AND type = 'table'
                  AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '_journal' AND name NOT LIKE '\\_journal\\_%' ESCAPE '\\'
                ORDER BY name
                """
        ).map { row in
            try TableInspection(db, map, name: row["name"], isWithoutRowid: row["wr"], isStrict: row["strict"])
        }
    }

    /// Returns the ordinary table with this name; nil when there is none. Names compare as SQLite compares
    /// them.
    ///
    /// - Throws: Errors of SQLite.
    package static func named(_ name: String, _ db: Database) throws -> TableInspection? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT name, wr, strict FROM pragma_table_list
                WHERE schema = 'main' AND type = 'table' AND lower(name) = lower(?)
                """,
            arguments: [name]
        ).map { row in
            try TableInspection(
                db, CollationMap(db), name: row["name"], isWithoutRowid: row["wr"], isStrict: row["strict"])
        }
    }

    private init(_ db: Database, _ map: CollationMap, name: String, isWithoutRowid: Bool, isStrict: Bool) throws {
        let rows = try Row.fetchAll(db, sql: TableInspection.columnsSQL, arguments: [name])
        let index = try KeyIndex(db, table: name, columns: rows)
        let columns = try rows.map { row in
            let column: String = row["name"]
            let hidden: Int = row["hidden"]
            let collation = try TableInspection.collation(db, table: name, column: column)
            let position = index.columns.firstIndex { SQLText.foldedName($0.name) == SQLText.foldedName(column) }
            // The rowid has no index, and no collation.
            let keyCollation = index.name == nil ? nil : position.map { index.columns[$0].collation }
            return Column(
                name: column, declaredType: row["type"], collation: collation,
                keyCollation: keyCollation?.uppercased() == collation.uppercased() ? nil : keyCollation,
                comparison: map.comparison(collation), keyComparison: map.comparison(keyCollation ?? collation),
                keyPosition: position.map { $0 + 1 } ?? 0,
                isNotNull: row["notnull"], isGenerated: hidden == 2 || hidden == 3, defaultSQL: row["dflt_value"])
        }
        let key = columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }
        self.name = name
        self.columns = columns
        self.isWithoutRowid = isWithoutRowid
        self.isStrict = isStrict
        self.keyCount = key.count
        self.stored = key + columns.filter { $0.keyPosition == 0 && !$0.isGenerated }
        // The declared type does not show it: INTEGER PRIMARY KEY DESC is no alias
        // (https://sqlite.org/lang_createtable.html, section 5).
        hasRowidKey = !isWithoutRowid && index.isPrimary && key.count == 1 && index.name == nil
    }

    /// The columns of a table.
    static let columnsSQL = """
        SELECT name, type, "notnull", pk, hidden, dflt_value FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1 ORDER BY cid
        """

    private static func collation(_ db: Database, table: String, column: String) throws -> String {
        var collation: UnsafePointer<CChar>?
        guard
            sqlite3_table_column_metadata(db.sqliteConnection, "main", table, column, nil, &collation, nil, nil, nil)
                == SQLITE_OK, let collation
        else { return "BINARY" }
        return String(cString: collation)
    }
}
