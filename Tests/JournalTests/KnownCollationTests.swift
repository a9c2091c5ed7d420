import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("The collations that a program's own can be mapped to")
struct KnownCollationTests {
    private static func folded(_ text: String) -> String {
        var text = text
        return text.withUTF8 { String(decoding: CaseFolding.folded(UnsafeRawBufferPointer($0)), as: UTF8.self) }
    }

    @Test(
        "case folding is that of CaseFolding.txt: one letter, several letters, and letters that keep their case",
        arguments: [
            ("ABCxyz", "abcxyz"), ("ÄÖÜß", "äöüss"), ("ẞ", "ss"), ("ΑΣΣας", "ασσασ"), ("ﬁﬀ", "fiff"),
            ("ŉǰ", "ʼn\u{6A}\u{30C}"),
            ("\u{212A}\u{17F}µ", "ksμ"), ("İı", "i\u{307}ı"), ("ᾳᾼ", "αιαι"), ("\u{345}", "ι"), ("Ꮝꮝᏸ", "ᏍᏍᏰ"),
            ("ᲐⴀႠ", "აⴀⴀ"),
            ("Жж日本語🙂", "жж日本語🙂"), ("", ""),
        ])
    func folding(text: String, expected: String) { #expect(Self.folded(text) == expected) }

    @Test("folding a folded text changes nothing, for every code point")
    func foldingTwice() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let once = Self.folded(String(scalar))
            if Self.folded(once) != once { Issue.record("U+\(String(value, radix: 16))") }
        }
    }

    @Test("letters beyond ASCII that have case are told from all other text")
    func beyondASCII() {
        for text in ["Ü", "straße", "aж", "ﬁ", "ı", "\u{212A}"] { #expect(CaseFolding.isBeyondASCII(text), "\(text)") }
        for text in ["", "abcXYZ", "日本語", "עברית", "a🙂", "×÷"] { #expect(!CaseFolding.isBeyondASCII(text), "\(text)") }
    }

    /// Texts of few letters, so that many are equal or prefixes of others.
    private static func texts(_ random: inout SplitMix) -> (String, String) {
        let letters = ["a", "A", "b", "Z", "[", "_", " ", "\0", "é", "É"]
        func text() -> String {
            (0..<Int.random(in: 0...4, using: &random)).map { _ in letters.randomElement(using: &random) ?? "" }
                .joined()
        }
        return (text(), text())
    }

    @Test("NOCASE, RTRIM and BINARY order as SQLite's own", arguments: [KeyCollation.nocase, .rtrim, .binary])
    func builtIn(collation: KeyCollation) throws {
        let queue = try DatabaseQueue()
        let collations = ProgramCollations(CollationMap().changed(by: [(name: "mapped", target: collation)]))
        var random = SplitMix(seed: 7)
        try queue.write { db in
            collations.install(on: db)
            let statement = try db.makeStatement(
                sql: """
                    SELECT a < b COLLATE \(collation.rawValue) IS (a < b COLLATE mapped)
                      AND (a = b COLLATE \(collation.rawValue)) IS (a = b COLLATE mapped)
                    FROM (SELECT CAST(? AS TEXT) AS a, CAST(? AS TEXT) AS b)
                    """)
            for _ in 0..<5_000 {
                let (a, b) = Self.texts(&random)
                let isAlike = try Bool.fetchOne(statement, arguments: [Data(a.utf8), Data(b.utf8)])
                #expect(isAlike == true, "\(a.debugDescription) \(b.debugDescription)")
            }
        }
        withExtendedLifetime(collations) {}
    }

    @Test("keys are equal exactly when the collation says so", arguments: KeyCollation.allCases)
    func keys(collation: KeyCollation) {
        var random = SplitMix(seed: 8)
        for _ in 0..<5_000 {
            let (a, b) = Self.texts(&random)
            let isEqual = Array(a.utf8).withUnsafeBytes { a in
                Array(b.utf8).withUnsafeBytes { collation.compare(a, $0) == 0 }
            }
            let keys = [a, b].map { Key([.text(Array($0.utf8)[...])], collations: [collation]) }
            #expect((keys[0] == keys[1]) == isEqual, "\(a.debugDescription) \(b.debugDescription)")
        }
    }

    @Test("a map that changes reaches connections that are open")
    func remapped() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE _journal_replica (collations TEXT); INSERT INTO _journal_replica VALUES (NULL)")
            let collations = ProgramCollations()
            collations.install(on: db)
            func isEqual() throws -> Bool? { try Bool.fetchOne(db, sql: "SELECT 'a' = 'A' COLLATE mine") }
            #expect(throws: DatabaseError.self) { try isEqual() }
            for (target, expected) in [(KeyCollation.binary, false), (.nocase, true), (.binary, false)] {
                try CollationMap().changed(by: [(name: "MINE", target: target)]).write(db)
                try collations.reload(db)
                #expect(try isEqual() == expected)
            }
            #expect(try Bool.fetchOne(db, sql: "SELECT 'ä' = 'Ä' COLLATE tandem_unicode") == true)
            try db.execute(sql: "UPDATE _journal_replica SET collations = '[\"mine\", \"swedish\"]'")
            #expect(throws: JournalError.self) { try collations.reload(db) }
        }
    }
}
