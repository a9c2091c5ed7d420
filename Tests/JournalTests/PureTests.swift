import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("Keys, masks, vectors and SQL text")
struct PureTests {
    @Test("keys are equal exactly when SQLite treats them as one row")
    func keys() throws {
        let connection = try RawConnection(path: ":memory:")
        let literals = [
            "0", "-0.0", "1", "1.0", "1.5", "9007199254740993", "9007199254740992.0", "9223372036854775807",
            "9223372036854775808.0", "-9223372036854775808", "'a'", "'A'", "'a '", "' a'", "''", "'  '", "x''", "x'61'",
            "'1'",
            "'\u{C4}'", "'\u{E4}'", "CAST(x'6100' AS TEXT)", "CAST(x'610062' AS TEXT)", "CAST(x'410063' AS TEXT)",
            "CAST(x'ff' AS TEXT)",
        ]
        for collation in [KeyCollation.binary, .nocase, .rtrim] {
            for a in literals {
                for b in literals {
                    let row = try connection.rows("SELECT \(a), \(b)")[0]
                    let isSame = try connection.rows("SELECT (\(a)) COLLATE \(collation.rawValue) = (\(b))")[0][0]
                    let keys = [Key([row[0]], collations: [collation]), Key([row[1]], collations: [collation])]
                    #expect((keys[0] == keys[1]) == (isSame == .integer(1)), "\(a) \(b) \(collation)")
                }
            }
        }
    }

    @Test("no composite key equals another by accident")
    func compositeKeys() {
        #expect(Key([.text("a"), .text("bc")]) != Key([.text("ab"), .text("c")]))
        #expect(Key([.text("a"), .null]) != Key([.text("a")]))
        #expect(Key([.blob([3]), .text("")]) != Key([.text(""), .blob([3])]))
        #expect(
            Key([.text("A"), .text("A")], collations: [.nocase])
                == Key([.text("a"), .text("A")], collations: [.nocase]))
        #expect(
            Key([.text("A"), .text("A")], collations: [.nocase])
                != Key([.text("a"), .text("a")], collations: [.nocase]))
    }

    @Test("a column mask behaves like a set of numbers")
    func masks() {
        var random = SplitMix(seed: 7)
        var mask = ColumnMask()
        var model: Set<Int> = []
        for _ in 0..<3_000 {
            let column = random.below(200)
            switch random.below(5) {
            case 0, 1:
                mask.insert(column)
                model.insert(column)
            case 2:
                mask.remove(column)
                model.remove(column)
            default:
                var other = ColumnMask()
                let columns = Set((0..<random.below(6)).map { _ in random.below(200) })
                for column in columns { other.insert(column) }
                #expect(elements(mask.intersection(other)) == model.intersection(columns).sorted())
                if random.chance(50) {
                    mask.formUnion(other)
                    model.formUnion(columns)
                } else {
                    mask.subtract(other)
                    model.subtract(columns)
                }
            }
            #expect(mask.contains(column) == model.contains(column))
            #expect(mask.count == model.count && mask.isEmpty == model.isEmpty)
        }
        #expect(elements(mask) == model.sorted())
        #expect(ColumnMask(words: mask.words) == mask)
        #expect(ColumnMask(words: [0, 0, 0]) == ColumnMask())
        for count in [0, 1, 62, 63, 64, 126, 127, 1_900] {
            #expect(elements(ColumnMask(all: count)) == Array(0..<count))
        }
    }

    private func elements(_ mask: ColumnMask) -> [Int] {
        var result: [Int] = []
        mask.forEach { result.append($0) }
        return result
    }

    @Test("a vector keeps the highest version of each origin, sorted")
    func vectors() {
        let origins = (1...5).map { OriginID(high: 9 - $0, low: 1) }
        var random = SplitMix(seed: 3)
        var vector = VersionVector()
        var model: [OriginID: Int64] = [:]
        for _ in 0..<200 {
            let origin = random.pick(origins)
            let version = Int64(random.below(100)) - 5
            vector.advance(origin, to: version)
            if version > 0 { model[origin] = max(model[origin] ?? 0, version) }
            #expect(vector[origin] == model[origin] ?? 0)
        }
        #expect(vector.entries.map(\.origin) == model.keys.sorted())
        var merged = VersionVector([.init(origin: origins[0], version: 1_000)])
        #expect(!merged.covers(vector) && merged.covers(VersionVector()) && VersionVector().isEmpty)
        merged.merge(vector)
        #expect(merged.covers(vector) && merged[origins[0]] == 1_000)
    }

    @Test("an origin id survives its bytes and its digits, and values that only a fault produces are refused")
    func origins() {
        let origin = OriginID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
        #expect(OriginID(bytes: origin.bytes) == origin)
        #expect(OriginID(hex: origin.description.uppercased()) == origin)
        #expect(OriginID(hex: "g" + origin.description.dropFirst()) == nil)
        #expect(OriginID(bytes: [UInt8](repeating: 0, count: 16)) == nil)
        #expect(OriginID(bytes: [UInt8](repeating: 255, count: 16)) == nil)
        #expect(OriginID(bytes: [1, 2]) == nil)
    }

    @Test("the terms and the condition of an index are parsed past strings, comments and quoted names")
    func indexDefinitions() {
        let plain = IndexDefinition(sql: "CREATE UNIQUE INDEX i ON t (a, b DESC)")
        #expect(plain.terms == ["a", "b"] && plain.condition == nil)
        let odd = IndexDefinition(
            sql: """
                CREATE UNIQUE INDEX "i (" ON "t) (" -- (comment
                ( lower(a || ',)') ASC, "x,y", [z)] COLLATE NOCASE /* , */ desc, coalesce(b, 1e+5, x'2c29') )
                WHERE c > '(' AND d <> 1 -- end
                """)
        #expect(
            odd.terms.map { $0.filter { $0 != " " } } == [
                "lower(a||',)')", "\"x,y\"", "[z)]COLLATENOCASE", "coalesce(b,1e+5,x'2c29')",
            ])
        #expect(odd.condition == "c > '(' AND d <> 1")
    }

    @Test("SQL is split into words, strings, names and operators")
    func tokens() {
        let sql = "a->>'it''s' <= \"q\"\"q\" || x'00' <> `b``b` /**/ [c] != .5 == 1e-3 << 2--"
        #expect(
            SQLToken.scan(sql).map(\.text) == [
                "a", "->>", "'it''s'", "<=", "\"q\"\"q\"", "||", "x'00'", "<>", "`b``b`", "[c]", "!=", ".5", "==",
                "1e-3", "<<", "2",
            ])
        #expect(SQLToken.scan("\"q\"\"q\" `b``b` [c] d").map(\.name) == ["q\"q", "b`b", "c", "d"])
        for broken in ["'", "\"abc", "/*", "[", "--", "x'", "é"] { #expect(SQLToken.scan(broken).count <= 2) }
    }

    @Test("a value for a parameter that a statement does not have is refused")
    func bindings() throws {
        try DatabaseQueue().write { db in
            let statement = try RawStatement(db, "SELECT ?")
            #expect(throws: JournalError.self) { try statement.bind(.text("x"), at: 2) }
            #expect(throws: JournalError.self) { try statement.bind(1, at: 2) }
            #expect(throws: JournalError.self) { try statement.bindNull(at: 2) }
        }
    }
}
