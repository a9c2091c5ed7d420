extension Model {
    /// The object that a reference refers to; nil when the row is gone. Without a query while someone holds the object.
    ///
    /// - Throws: As ``Model/fetch(_:in:)``, for this one row.
    public func related<Target>(_ reference: KeyPath<Self, Ref<Target>>) throws -> Target? {
        try self[keyPath: reference].find(in: database)
    }

    /// The object that a reference refers to; nil when the reference is nil, or the row is gone.
    ///
    /// - Throws: As ``Model/fetch(_:in:)``, for this one row.
    public func related<Target>(_ reference: KeyPath<Self, Ref<Target>?>) throws -> Target? {
        try self[keyPath: reference]?.find(in: database)
    }

    /// The rows of another model that refer to this one: `bob.related(Item.self, by: \.owner)`.
    public func related<Source>(_ type: Source.Type, by reference: ColumnPath<Source, Ref<Self>>) -> Query<Source>
    where ID: ColumnValue { Source.where(reference == Ref(self)) }

    /// The rows of another model that refer to this one, by a reference that may be nil.
    public func related<Source>(_ type: Source.Type, by reference: ColumnPath<Source, Ref<Self>?>) -> Query<Source>
    where ID: ColumnValue { Source.where(reference == Ref(self)) }
}

/// Objects with the one that each refers to: `Item.query.including(\.owner).all(in: db)`. Two queries for any number of rows,
/// and one more for each further 500 that nobody holds yet.
public struct Including<M: Model, Target: Model>: Sendable where Target.ID: ColumnValue {
    fileprivate let query: Query<M>
    fileprivate let reference: ReferenceColumn<M, Target>

    /// The pairs, on one snapshot, in the order of the query. The second is nil when the reference is, or the row is
    /// gone.
    ///
    /// - Throws: As ``Model/fetch(_:in:)``: one row of either model that does not decode fails all of it.
    public func all(in database: Database) throws -> [(M, Target?)] {
        try database.read {
            let objects = try query.all(in: database)
            let references = try objects.map { try reference.value(in: $0) }
            let targets = try Target.referred(by: references, in: database)
            return zip(objects, references).map { object, reference in (object, reference.flatMap { targets[$0] }) }
        }
    }
}

/// Objects with those that refer to each: `Person.query.including(Item.self, by: \.owner).all(in: db)`. Two queries.
public struct IncludingMany<M: Model, Source: Model>: Sendable where M.ID: ColumnValue {
    fileprivate let query: Query<M>
    fileprivate let reference: ReferenceColumn<Source, M>
    fileprivate let condition: @Sendable ([Ref<M>]) -> Condition<Source>

    /// Each object with its group, on one snapshot, in the order of the query; the group is empty when nothing refers
    /// to it.
    ///
    /// - Throws: As ``Model/fetch(_:in:)``: one row of either model that does not decode fails all of it.
    public func all(in database: Database) throws -> [(M, [Source])] {
        try database.read {
            let objects = try query.all(in: database)
            if objects.isEmpty { return [] }
            var groups: [Ref<M>: [Source]] = [:]
            for source in try Source.where(condition(objects.map { Ref($0) })).order(.sql("$PK")).all(in: database) {
                if let key = try reference.value(in: source) { groups[key, default: []].append(source) }
            }
            return objects.map { ($0, groups[Ref($0)] ?? []) }
        }
    }
}

/// The column of a reference, read out of an object.
private struct ReferenceColumn<M: Model, Target: Model>: Sendable where Target.ID: ColumnValue {
    let position: Int

    func value(in object: M) throws -> Ref<Target>? {
        try Ref<Target>?(columnValue: object._withState { $0.visible.fields }._value(position))
    }
}

extension Query where M: Model {
    /// Each object with the one that its reference refers to.
    public func including<Target>(_ reference: ColumnPath<M, Ref<Target>>) -> Including<M, Target> {
        Including(query: self, reference: ReferenceColumn(position: M.columns[keyPath: reference].position))
    }

    /// Each object with the one that its reference refers to; nil where the reference is.
    public func including<Target>(_ reference: ColumnPath<M, Ref<Target>?>) -> Including<M, Target> {
        Including(query: self, reference: ReferenceColumn(position: M.columns[keyPath: reference].position))
    }

    /// Each object with the rows of another model that refer to it, in the order of their keys.
    public func including<Source>(
        _ type: Source.Type, by reference: ColumnPath<Source, Ref<M>>
    ) -> IncludingMany<M, Source> where M.ID: ColumnValue {
        let column = Source.columns[keyPath: reference]
        return IncludingMany(query: self, reference: ReferenceColumn(position: column.position)) {
            Condition(
                template: ValueList($0.map { Template($0, storedIn: column) }).contains(
                    Template([.column(column.position)])))
        }
    }

    /// The same, by a reference that may be nil.
    public func including<Source>(
        _ type: Source.Type, by reference: ColumnPath<Source, Ref<M>?>
    ) -> IncludingMany<M, Source> where M.ID: ColumnValue {
        let column = Source.columns[keyPath: reference]
        return IncludingMany(query: self, reference: ReferenceColumn(position: column.position)) {
            Condition(
                template: ValueList($0.map { Template($0, storedIn: column) }).contains(
                    Template([.column(column.position)])))
        }
    }
}

extension Sequence where Element: Model {
    /// The objects that these objects refer to, by reference, in one query for each 500 of them. Hold the result as long as
    /// they are used: what nobody holds is released, and read again.
    ///
    /// - Throws: As ``Model/fetch(_:in:)``: one row that does not decode fails all of it.
    public func related<Target>(
        _ reference: KeyPath<Element, Ref<Target>>, in database: Database
    ) throws -> [Ref<Target>: Target] {
        try Target.referred(by: map { $0[keyPath: reference] }, in: database)
    }

    /// The objects that these objects refer to, by reference; references that are nil, and rows that are gone, are left
    /// out.
    ///
    /// - Throws: As ``Model/fetch(_:in:)``: one row that does not decode fails all of it.
    public func related<Target>(
        _ reference: KeyPath<Element, Ref<Target>?>, in database: Database
    ) throws -> [Ref<Target>: Target] {
        try Target.referred(by: map { $0[keyPath: reference] }, in: database)
    }
}

extension Model where ID: ColumnValue {
    fileprivate static func referred(by references: [Ref<Self>?], in database: Database) throws -> [Ref<Self>: Self] {
        let targets = try find(Set(references.compactMap(\.self)).map(\.id), in: database)
        return Dictionary(targets.map { (Ref($0), $0) }) { first, _ in first }
    }
}
