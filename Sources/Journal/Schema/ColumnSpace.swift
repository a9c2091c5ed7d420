/// A numbering of all columns that one table has on any machine.
///
/// The columns of the table in this file come first, primary key first, in the order of
/// ``TableInspection/stored``. Columns that only other machines have follow, in the order in which their
/// shapes are translated. Names compare as SQLite compares them: without regard to the case of ASCII letters,
/// otherwise byte by byte.
package struct ColumnSpace {
    /// How the columns of a shape map into the space.
    package struct Translation {
        /// The number in the space of each column of the shape.
        package let positions: [Int]
        /// True when each column's number equals its index in the shape.
        package let isIdentity: Bool
        /// False when the shape's primary key is not the table's.
        package let hasSameKey: Bool
    }

    /// The names of the columns by number, each as the first shape with it spells it.
    package private(set) var names: [String]
    /// The number of columns in the primary key; 0 when the table is not in this file.
    package let keyCount: Int
    /// The numbers by the bytes of the folded name, because Swift's strings equate NFC and NFD.
    private var positions: [[UInt8]: Int] = [:]
    private var translations: [Int64: Translation] = [:]

    /// - Parameters:
    ///   - columns: The columns of the table in this file, primary key first; none when the table is not
    ///     here.
    ///   - keyCount: The number of columns in the primary key.
    package init(columns: [String] = [], keyCount: Int = 0) {
        names = columns
        self.keyCount = keyCount
        for (index, name) in columns.enumerated() where positions[ColumnSpace.folded(name)] == nil {
            positions[ColumnSpace.folded(name)] = index
        }
    }

    /// Returns how the columns of a shape map into the space. Columns that are new to the space are added.
    package mutating func translation(of entry: ShapeRegistry.Entry) -> Translation {
        if let known = translations[entry.id] { return known }
        let translation = translation(of: entry.shape)
        translations[entry.id] = translation
        return translation
    }

    /// As ``translation(of:)-(ShapeRegistry.Entry)``, without caching the result.
    package mutating func translation(of shape: TableShape) -> Translation {
        let mapped = shape.columns.map { name -> Int in
            let folded = ColumnSpace.folded(name)
            if let position = positions[folded] { return position }
            positions[folded] = names.count
            names.append(name)
            return names.count - 1
        }
        return Translation(
            positions: mapped, isIdentity: mapped == Array(mapped.indices),
            hasSameKey: keyCount > 0 && shape.keyCount == keyCount
                && Array(mapped.prefix(keyCount)) == Array(0..<keyCount))
    }

    private static func folded(_ name: String) -> [UInt8] { Array(SQLText.foldedName(name).utf8) }
}
