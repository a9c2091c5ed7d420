import Journal
import TestSupport

/// The class of values of a random column. It decides which literals the column mostly gets.
enum RandomClass: CaseIterable {
    case integer
    case real
    case text
    case blob
    case numeric
    case any

    /// Declared types that give this affinity (https://sqlite.org/datatype3.html, section 3.1).
    var declaredTypes: [String] {
        switch self {
        case .integer: ["INTEGER", "INT", "BIGINT", "TINYINT(1)", "integer"]
        case .real: ["REAL", "DOUBLE", "FLOAT"]
        case .text: ["TEXT", "VARCHAR(20)", "CLOB", "text"]
        case .blob: ["BLOB", "blob"]
        case .numeric: ["NUMERIC", "DECIMAL(10,2)", "BOOLEAN", "DATE"]
        case .any: ["", "", "\"what ever BLOB\""]
        }
    }

    var strictType: String {
        switch self {
        case .integer: "INTEGER"
        case .real: "REAL"
        case .text: "TEXT"
        case .blob: "BLOB"
        case .numeric: "INT"
        case .any: "ANY"
        }
    }

    /// A DEFAULT that the column's affinity does not change, as SQL and as the stored value.
    func defaults(_ random: inout SplitMix) -> (sql: String, value: Value) {
        switch self {
        case .integer, .numeric: random.pick([("7", .integer(7)), ("(-3)", .integer(-3))])
        case .real: ("2.5", .real(2.5))
        case .text: random.pick([("'dflt'", .text("dflt")), ("''", .text(""))])
        case .blob: ("x'0d'", .blob([0x0D]))
        case .any: random.pick([("1.5", .real(1.5)), ("'it''s'", .text("it's")), ("x''", .blob([]))])
        }
    }
}

/// SQL literals with edge values. The real -2^63 is left out: see "Limits" of `docs/JOURNAL.md`.
enum RandomLiteral {
    static let integers = [
        "0", "1", "-1", "2", "3", "4", "5", "42", "9223372036854775807", "-9223372036854775808", "9007199254740993",
    ]
    static let reals = [
        "0.0", "-0.0", "1.0", "1.5", "-2.25", "1e300", "4.9e-324", "9e999", "-9e999", "0.1", "9007199254740994.0",
    ]
    static let texts = [
        "''", "'a'", "'A'", "'a '", "'b'", "'B'", "'abc'", "'1'", "'1.0'", "' '", "'it''s'", "CAST(x'610062' AS TEXT)",
        "CAST(x'ff80' AS TEXT)", "CAST(x'eda080' AS TEXT)", "CAST(x'c3a9' AS TEXT)", "CAST(x'65cc81' AS TEXT)",
        "CAST(x'efbbbf78' AS TEXT)", "'\u{1F600}'", "'таблица'",
    ]
    static let blobs = ["x''", "x'00'", "x'61'", "x'ff00'", "zeroblob(3)"]

    /// Keys come from small sets, so that statements conflict.
    static func key(_ kind: RandomClass, _ random: inout SplitMix) -> String {
        switch kind {
        case .integer, .numeric:
            random.chance(10) ? random.pick(integers) : "\(random.below(12) - 1)"
        case .real: random.pick(["0.0", "-0.0", "1.0", "2", "1.5", "2.5", "1e300", "9e999", "3.5", "-7.25"])
        case .text: random.chance(60) ? "'k\(random.below(9))'" : random.pick(texts)
        case .blob: random.chance(50) ? random.pick(blobs) : "x'0\(random.below(9))'"
        case .any: any(&random)
        }
    }

    static func value(_ kind: RandomClass, _ random: inout SplitMix) -> String {
        if random.chance(1) { return random.pick(["replace(hex(zeroblob(2000)), '00', 'big')", "zeroblob(9000)"]) }
        switch kind {
        case .integer, .numeric: return random.pick(integers)
        case .real: return random.pick(reals)
        case .text: return random.pick(texts)
        case .blob: return random.pick(blobs)
        case .any: return any(&random)
        }
    }

    static func any(_ random: inout SplitMix) -> String {
        random.pick([integers, reals, texts, blobs][random.below(4)])
    }
}
