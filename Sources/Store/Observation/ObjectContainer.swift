/// A type of the standard library that may hold objects.
private protocol ObjectContainer {
    static var holdsObjects: Bool { get }
}

extension Array: ObjectContainer {
    fileprivate static var holdsObjects: Bool { Store.holdsObjects(Element.self) }
}

extension Set: ObjectContainer {
    fileprivate static var holdsObjects: Bool { Store.holdsObjects(Element.self) }
}

extension Optional: ObjectContainer {
    fileprivate static var holdsObjects: Bool { Store.holdsObjects(Wrapped.self) }
}

extension Dictionary: ObjectContainer {
    fileprivate static var holdsObjects: Bool { Store.holdsObjects(Key.self) || Store.holdsObjects(Value.self) }
}

/// True for models, and for arrays, sets, dictionaries and optionals of them.
func holdsObjects(_ type: Any.Type) -> Bool {
    type is any Model.Type || (type as? any ObjectContainer.Type)?.holdsObjects == true
}
