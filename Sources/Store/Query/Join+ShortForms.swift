// The forms of conditions and orders that a `Query` has, for joins.

extension Join {
    /// Keeps the pairs whose left row has true in a column.
    public func `where`<Flag: FlagColumnValue>(_ flag: ColumnPath<A, Flag>) -> Join {
        self.where(Condition(flag: flag))
    }
    /// Keeps the pairs whose right row has true in a column.
    public func `where`<Flag: FlagColumnValue>(joined flag: ColumnPath<B, Flag>) -> Join {
        self.where(joined: Condition(flag: flag))
    }
    /// Keeps the pairs that meet a condition in SQL, in which `$T` stands for the table of the left rows:
    /// `where("$T.name <> title")`. When a model is joined with itself, its right side has the alias `joined`.
    ///
    /// - Parameters:
    ///   - condition: What may follow WHERE, without ORDER BY and LIMIT.
    ///   - arguments: The values of the `?` placeholders that are not interpolated.
    @_disfavoredOverload
    public func `where`(_ condition: SQL, _ arguments: (any ColumnValue)?...) -> Join {
        self.where(.sql(condition, values: arguments))
    }
    /// Adds columns of the left rows to the order, smallest first; earlier columns take precedence.
    public func order<each V>(by paths: repeat ColumnPath<A, each V>) -> Join {
        var join = self
        for path in repeat each paths { join = join.order(.ascending(path)) }
        return join
    }
    /// Adds a column of the left rows to the order: `order(by: \.age, .descending)`.
    public func order<V>(by path: ColumnPath<A, V>, _ direction: OrderDirection) -> Join {
        order(Ordering(path, direction))
    }
}

extension LeftJoin {
    /// Keeps the pairs whose left row has true in a column.
    public func `where`<Flag: FlagColumnValue>(_ flag: ColumnPath<A, Flag>) -> LeftJoin {
        self.where(Condition(flag: flag))
    }
    /// Keeps the pairs whose right row has true in a column; a row without a partner has NULL there.
    public func `where`<Flag: FlagColumnValue>(joined flag: ColumnPath<B, Flag>) -> LeftJoin {
        self.where(joined: Condition(flag: flag))
    }
    /// Keeps the pairs that meet a condition in SQL, in which `$T` stands for the table of the left rows:
    /// `where("$T.name <> title")`. When a model is joined with itself, its right side has the alias `joined`.
    ///
    /// - Parameters:
    ///   - condition: What may follow WHERE, without ORDER BY and LIMIT.
    ///   - arguments: The values of the `?` placeholders that are not interpolated.
    @_disfavoredOverload
    public func `where`(_ condition: SQL, _ arguments: (any ColumnValue)?...) -> LeftJoin {
        self.where(.sql(condition, values: arguments))
    }
    /// Adds columns of the left rows to the order, smallest first; earlier columns take precedence.
    public func order<each V>(by paths: repeat ColumnPath<A, each V>) -> LeftJoin {
        var join = self
        for path in repeat each paths { join = join.order(.ascending(path)) }
        return join
    }
    /// Adds a column of the left rows to the order: `order(by: \.age, .descending)`.
    public func order<V>(by path: ColumnPath<A, V>, _ direction: OrderDirection) -> LeftJoin {
        order(Ordering(path, direction))
    }
}
