/// A set of column positions of one table shape.
///
/// The first 63 columns, which suffice for most tables, need no allocation. A word holds 63 bits, so that it
/// fits into a non-negative `Int64` in SQL.
public struct ColumnMask: Hashable, Sendable {
    /// The number of columns in one word of ``words``.
    public static let bitsPerWord = 63

    private var first: UInt64 = 0
    private var rest: [UInt64] = []

    /// Creates an empty set.
    public init() {}

    /// - Parameter words: As in ``words``; missing words are 0, trailing zero words are dropped.
    public init(words: some Sequence<UInt64>) {
        for (index, word) in words.enumerated() { set(word: index, to: word & ColumnMask.fullWord) }
    }

    /// - Parameter word: The first 63 columns, as in ``words``.
    init(word: UInt64) { first = word & ColumnMask.fullWord }

    /// Creates the set of the first `count` columns.
    public init(all count: Int) {
        var remaining = count
        var index = 0
        while remaining > 0 {
            let bits = min(remaining, ColumnMask.bitsPerWord)
            set(word: index, to: ColumnMask.fullWord >> UInt64(ColumnMask.bitsPerWord - bits))
            remaining -= bits
            index += 1
        }
    }

    /// True when no column is in the set.
    public var isEmpty: Bool { first == 0 && rest.isEmpty }

    /// 63 columns a word, the lowest column in the lowest bit; at least one word, no trailing zero words
    /// after it.
    public var words: [UInt64] { [first] + rest }

    /// The number of columns in the set.
    public var count: Int { first.nonzeroBitCount + rest.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// True when the column at this position, 0 or more, is in the set.
    public func contains(_ column: Int) -> Bool {
        let (word, bit) = column.quotientAndRemainder(dividingBy: ColumnMask.bitsPerWord)
        if word == 0 { return first >> UInt64(bit) & 1 == 1 }
        return word <= rest.count && rest[word - 1] >> UInt64(bit) & 1 == 1
    }

    /// Adds the column at this position, 0 or more.
    public mutating func insert(_ column: Int) {
        let (word, bit) = column.quotientAndRemainder(dividingBy: ColumnMask.bitsPerWord)
        set(word: word, to: self.word(word) | 1 << UInt64(bit))
    }

    /// Removes the column at this position, 0 or more.
    public mutating func remove(_ column: Int) {
        let (word, bit) = column.quotientAndRemainder(dividingBy: ColumnMask.bitsPerWord)
        set(word: word, to: self.word(word) & ~(1 << UInt64(bit)))
    }

    /// Adds the columns of `other`.
    public mutating func formUnion(_ other: ColumnMask) {
        first |= other.first
        for index in other.rest.indices { set(word: index + 1, to: word(index + 1) | other.rest[index]) }
    }

    /// Removes the columns of `other`.
    public mutating func subtract(_ other: ColumnMask) {
        first &= ~other.first
        for index in other.rest.indices where index < rest.count {
            set(word: index + 1, to: rest[index] & ~other.rest[index])
        }
    }

    /// Returns the columns that are in both sets.
    public func intersection(_ other: ColumnMask) -> ColumnMask {
        var result = ColumnMask()
        result.first = first & other.first
        for index in rest.indices where index < other.rest.count {
            result.set(word: index + 1, to: rest[index] & other.rest[index])
        }
        return result
    }

    /// True when no column at position `first` or later is in both sets.
    public func isDisjoint(with other: ColumnMask, ignoring first: Int) -> Bool {
        if rest.isEmpty || other.rest.isEmpty, first < ColumnMask.bitsPerWord {
            return (self.first & other.first) >> UInt64(first) == 0
        }
        var isDisjoint = true
        intersection(other).forEach { if $0 >= first { isDisjoint = false } }
        return isDisjoint
    }

    /// Calls `body` with each column of the set, ascending.
    public func forEach(_ body: (Int) throws -> Void) rethrows {
        try ColumnMask.visit(first, base: 0, body)
        for index in rest.indices {
            try ColumnMask.visit(rest[index], base: (index + 1) * ColumnMask.bitsPerWord, body)
        }
    }

    private static let fullWord: UInt64 = (1 << 63) - 1

    private static func visit(_ word: UInt64, base: Int, _ body: (Int) throws -> Void) rethrows {
        var remaining = word
        while remaining != 0 {
            try body(base + remaining.trailingZeroBitCount)
            remaining &= remaining - 1
        }
    }

    /// Returns the word at `index` of ``words``; 0 beyond its end.
    func word(_ index: Int) -> UInt64 {
        if index == 0 { return first }
        return index <= rest.count ? rest[index - 1] : 0
    }

    private mutating func set(word index: Int, to value: UInt64) {
        if index == 0 {
            first = value
            return
        }
        while rest.count < index { rest.append(0) }
        rest[index - 1] = value
        while rest.last == 0 { rest.removeLast() }
    }
}
