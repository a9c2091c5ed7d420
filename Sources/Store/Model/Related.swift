extension Model {
    /// Returns the object that a reference refers to; nil when the row does not exist. An object that is in
    /// memory needs no query.
    ///
    /// - Throws: What ``Model/fetch(_:in:)`` throws, for this row.
    public func related<Target>(_ reference: KeyPath<Self, Ref<Target>>) throws -> Target? {
        try self[keyPath: reference].find(in: database)
    }

    /// Returns the object that a reference refers to; nil when the reference is nil or the row does not
    /// exist.
    ///
    /// - Throws: What ``Model/fetch(_:in:)`` throws, for this row.
    public func related<Target>(_ reference: KeyPath<Self, Ref<Target>?>) throws -> Target? {
        try self[keyPath: reference]?.find(in: database)
    }

    /// Queries the rows of another model that refer to this one: `bob.related(Item.self, by: \.owner)`.
    public func related<Source>(_ type: Source.Type, by reference: ColumnPath<Source, Ref<Self>>) -> Query<Source>
    where ID: ColumnValue { Source.where(reference == Ref(self)) }

    /// Queries the rows of another model that refer to this one by an optional reference.
    public func related<Source>(_ type: Source.Type, by reference: ColumnPath<Source, Ref<Self>?>) -> Query<Source>
    where ID: ColumnValue { Source.where(reference == Ref(self)) }
}

/// Objects, each with the object that it refers to: `Item.query.including(\.owner).all(in: db)`. Runs two
/// queries, and one more for each further 500 referenced objects that are not in memory.
public struct Including<M: Model, Target: Model>: Sendable where Target.ID: ColumnValue {
    fileprivate let query: Query<M>
    fileprivate let reference: ReferenceColumn<M, Target>

    /// Returns the pairs, read on one snapshot, in the order of the query. The second element is nil when the
    /// reference is nil or the row does not exist.
    ///
    /// - Throws: What ``Model/fetch(_:in:)`` throws. One row of either model that cannot be decoded fails the
    ///   whole call.
    public func all(in database: Database) throws -> [(M, Target?)] {
        try database.read {
            let objects = try query.all(in: database)
            let references = try objects.map { try reference.value(in: $0) }
            let targets = try Target.referred(by: references, in: database)
            return zip(objects, references).map { object, reference in (object, reference.flatMap { targets[$0] }) }
        }
    }
}

/// Objects, each with the objects that refer to it:
/// `Person.query.including(Item.self, by: \.owner).all(in: db)`. Runs two queries.
public struct IncludingMany<M: Model, Source: Model>: Sendable where M.ID: ColumnValue {
    fileprivate let query: Query<M>
    fileprivate let reference: ReferenceColumn<Source, M>
    fileprivate let condition: @Sendable ([Ref<M>]) -> Condition<Source>

    /// Returns each object with its group, read on one snapshot, in the order of the query. The group is
    /// empty when no row refers to the object.
    ///
    /// - Throws: What ``Model/fetch(_:in:)`` throws. One row of either model that cannot be decoded fails the
    ///   whole call.
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

/// The column of a reference, which reads the reference from an object.
private struct ReferenceColumn<M: Model, Target: Model>: Sendable where Target.ID: ColumnValue {
    let position: Int

    func value(in object: M) throws -> Ref<Target>? {
        try Ref<Target>?(columnValue: object.seen.fields._value(position))
    }
}

extension Query where M: Model {
    /// Fetches each object with the object that its reference refers to.
    public func including<Target>(_ reference: ColumnPath<M, Ref<Target>>) -> Including<M, Target> {
        Including(query: self, reference: ReferenceColumn(position: M.columns[keyPath: reference].position))
    }

    /// Fetches each object with the object that its reference refers to; nil where the reference is nil.
    public func including<Target>(_ reference: ColumnPath<M, Ref<Target>?>) -> Including<M, Target> {
        Including(query: self, reference: ReferenceColumn(position: M.columns[keyPath: reference].position))
    }

    /// Fetches each object with the rows of another model that refer to it, in the order of their keys.
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

    /// Fetches each object with the rows of another model that refer to it by an optional reference, in the
    /// order of their keys.
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
    /// Returns the objects that these objects refer to, by reference, with one query for each 500 of them.
    /// Hold the result while the objects are in use: an object without references is released and must be
    /// read again.
    ///
    /// - Throws: What ``Model/fetch(_:in:)`` throws. One row that cannot be decoded fails the whole call.
    public func related<Target>(
        _ reference: KeyPath<Element, Ref<Target>>, in database: Database
    ) throws -> [Ref<Target>: Target] {
        try Target.referred(by: map { $0[keyPath: reference] }, in: database)
    }

    /// Returns the objects that these objects refer to, by reference. References that are nil and references
    /// to missing rows are left out.
    ///
    /// - Throws: What ``Model/fetch(_:in:)`` throws. One row that cannot be decoded fails the whole call.
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
