import Foundation
import Store

enum Status: String, ColumnValue { case draft, done }

nonisolated struct Address: Codable, Sendable { var street = "" }

enum Size: String, ColumnValue, ModelKey, CaseIterable, ColumnPlaceholder { case small, large }

@Model
final class Person {
    var id: UUID
    var name: String = ""
    var born: Date
    var status: Status = .draft
    var former: Status?
    @Column(unknown: Status.draft) var next: Status = .done
    @JSON var address: Address = Address()
    @JSON var tags: [String]?
    @Column(as: DateAsMilliseconds.self) var seen: Date?
    var boss: Ref<Person>?
    @Transient var isOpen: Bool = false

    static let indexes = [Index(\.name)]

    nonisolated static func makePrimaryKey() -> ID? { UUID() }
    nonisolated static func willInsert(_ fields: inout Fields) throws { fields.name += "!" }
    nonisolated func didUpdate(_ columns: Set<String>) {}
}

/// Spellings of hooks and of static properties that mean the same.
enum Outer {
    typealias Names = Set<String>

    @Model
    final class Inner {
        var id: UUID
        var size: Size = .small
        var boss: Ref<Person>?
        var isDone: Bool?

        static let indexes: [Index] = [Index(\.size, \.id, unique: true), Index("boss", where: "boss > 0")]
        static var foreignKeys: [ForeignKey] { [ForeignKey(\.boss), ForeignKey(\Columns.boss, onDelete: .cascade)] }
        static let textIndexes: [TextIndex] = []
        nonisolated static let cachePolicy: CachePolicy = .weak

        nonisolated static func willInsert(_ fields: inout Outer.Inner.Fields) throws {}
        nonisolated func willUpdate(_ fields: inout Inner.Fields) throws {}
        nonisolated func didUpdate(_ columns: borrowing Set<String>) {}
        nonisolated static func makePrimaryKey() -> Outer.Inner.ID? { nil }
    }
}

/// A key with a default value.
@Model
final class Setting {
    @PrimaryKey var size: Shade = .dark
    var value: String = ""

    static func makePrimaryKey() -> ID? { .light }
}

enum Shade: String, ColumnValue, ModelKey { case dark, light }

/// A key that is a reference: each person has one at most.
@Model
final class Account {
    @PrimaryKey var owner: Ref<Person>
    var balance: Decimal = 0
}

/// A key of references.
@Model
final class Friendship {
    @PrimaryKey var one: Ref<Person>
    @PrimaryKey var other: Ref<Person>
}

/// A key that is an enum.
@Model
final class Price {
    @PrimaryKey var size: Size
    var amount: Decimal = 0
}

@Model
struct Total: Equatable {
    var status: Status
    var count: Int = 0
}

func use(_ db: Database) throws {
    let bob = try Person.create(in: db) { $0.born = .now }
    try Account.create(in: db) { $0.owner = Ref(bob) }
    _ = try Account.find(Ref(bob), in: db)
    _ = try Friendship.find(Friendship.ID(one: Ref(bob), other: Ref(bob)), in: db)
    _ = try Price.find(.small, in: db)
    try Person.delete(bob.id, in: db)
}

nonisolated protocol Shape: Sendable {}
nonisolated struct Circle: Shape {}

/// Properties whose type the macro's code takes from the property itself.
@Model
final class Drawing {
    var id: UUID
    var made: Date = .now
    var changed: Date = Date(timeIntervalSince1970: 0)
    var link: URL?
    var status: Status = .draft
    var former: Status? = .done
    var token = UUID()
    var price: Decimal = 0.5
    var content: Data = Data()
    @JSON var parts: [String: [Address]] = [:]
    @JSON var main: Address?
    @JSON var counts: Set<Int> = [1, 2]
    var parent: Ref<Drawing>?
    private var hidden: Status = .done
    @Transient var then: @Sendable () -> Void = {}
    @Transient var count: (@Sendable (Int) -> Int)?
    @Transient var shape: any Shape = Circle()
    @Transient var pair: (Int, String) = (1, "x")
    @Transient private var kinds: [Status] = [.draft]
}
