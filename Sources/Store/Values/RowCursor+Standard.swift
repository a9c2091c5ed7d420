import Foundation

// The standard types have reads of their own, so that a model holds a call for each property and not the code of
// the read. All throw like the generic `read`.

extension RowCursor {
    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Int64 { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Int64? { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Int { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Int? { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Double { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Double? { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Bool { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Bool? { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> String { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> String? { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Data { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Data? { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Date { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> Date? { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> UUID { try decoded(position) }

    /// Reads the model's column at `position`, counted from 0.
    ///
    /// - Throws: ``StoreError/Code/undecodable``, with the column's name, when the wanted type cannot decode
    ///   the stored value.
    public func read(_ position: Int) throws -> UUID? { try decoded(position) }
}
