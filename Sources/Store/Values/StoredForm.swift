/// How a column stores its values, apart from NULL. SQLite compares stored values, so two columns can be
/// compared only when they have the same form.
struct StoredForm: Hashable, Sendable {
    private let type: ObjectIdentifier

    /// The form of a type that stores itself.
    init<Stored: ColumnValue>(of type: Stored.Type) { self.type = ObjectIdentifier(Stored.Unwrapped.self) }

    /// The form of a coding.
    init<Coding: ColumnCoding>(of coding: Coding.Type) {
        if let optional = coding as? any WrappingCoding.Type {
            self = optional.wrappedForm
        } else if let unknown = coding as? any UnknownCaseCoding.Type {
            self = StoredForm.ofCases(unknown)
        } else {
            type = ObjectIdentifier(coding)
        }
    }

    /// The form of a coding that stores the raw values of its property's type, as the type itself does.
    private static func ofCases<Coding: UnknownCaseCoding>(_ coding: Coding.Type) -> StoredForm {
        StoredForm(of: Coding.Property.self)
    }
}

/// A coding that stores NULL or what another coding stores.
private protocol WrappingCoding {
    static var wrappedForm: StoredForm { get }
}

extension OptionalCoding: WrappingCoding where Wrapped: ColumnCoding {
    fileprivate static var wrappedForm: StoredForm { StoredForm(of: Wrapped.self) }
}
