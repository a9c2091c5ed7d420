/// What objects show to the transaction before it commits.
extension WriteContext {
    /// The values and status of `object` as this transaction sees them.
    func current<M: Model>(_ object: M) throws -> (fields: M.Fields, status: RowStatus) {
        guard object.database === database else {
            throw StoreError(
                .otherDatabase, "The object belongs to the database \(object.database.path), and not to this one",
                hint: "Save it through the database that it belongs to.",
                table: M.schema.table
            ).of(M.self, object._withState { $0.fields._key })
        }
        let epoch = epoch
        let known = object._withState { state -> (fields: M.Fields, status: RowStatus)? in
            if let overlay = state.overlays.first, overlay.epoch == epoch { return (overlay.fields, overlay.status) }
            // The object may have been registered during this transaction, from a snapshot that is older than
            // its start.
            if state.isStale || state.epoch >= epoch || state.status.isProvisional { return nil }
            return (state.fields, state.status)
        }
        if let known { return known }
        database.counters.countQuery()
        try StatementOwner.store.runs { try RefreshableObject<M>(object: object).refresh(in: self) }
        return object._withState { state in
            state.overlays.first.map { ($0.fields, $0.status) } ?? (state.fields, state.status)
        }
    }

    /// True when `object` already shows these values to this transaction.
    func shows<M: Model>(_ object: M, _ row: M.Fields) -> Bool {
        object._withState { state in
            let visible = state.visible
            return visible.status == .present && !state.isStale && state.refreshError == nil
                && row._changes(from: visible.fields).isEmpty
        }
    }

    /// Shows `fields` in `object` to this transaction; nil keeps the values.
    func show<M: Model>(_ object: M, _ fields: M.Fields?, status: RowStatus) {
        let (owner, epoch) = (owner, epoch)
        let previous = object._withState { state -> Overlay<M.Fields>? in
            let previous = state.overlays.first.flatMap { $0.epoch == epoch ? $0 : nil }
            let base = previous?.fields ?? state.fields
            var values = fields ?? base
            if fields != nil { values._takeTransient(from: base) }
            // Values that the transaction has saved stay marked as saved after later changes of the row.
            let isSaved = previous?.isSaved ?? false
            state.overlays = [
                Overlay(owner: owner, epoch: epoch, fields: values, status: status, isSaved: isSaved)
            ]
            state.checkInvariants()
            return previous
        }
        note(object, previous)
    }

    /// Like ``show(_:_:status:)`` for saved values, including the transient properties of `fields`.
    func publishLater<M: Model>(_ object: M, _ fields: M.Fields) {
        // The values were written, or equal those in the file.
        put(Overlay(owner: owner, epoch: epoch, fields: fields, status: .present, isSaved: true), on: object)
    }

    /// Shows an object whose row this transaction has deleted, or found deleted, as a new object in memory. A
    /// rollback undoes this.
    ///
    /// - Returns: False, without any change, when the transaction has no overlay for the object, or does not
    ///   see it deleted.
    func remake<M: Model>(_ object: M, _ fields: M.Fields) -> Bool {
        let epoch = epoch
        let isDeletedHere = object._withState { state in
            state.overlays.first.map { $0.epoch == epoch && $0.status == .deleted } ?? false
        }
        guard isDeletedHere else { return false }
        put(Overlay(owner: owner, epoch: epoch, fields: fields, status: .new), on: object)
        return true
    }

    /// Like ``publishLater(_:_:)``, for an object that this transaction has made and that has no overlay.
    func publishFirst<M: Model>(_ object: M, _ fields: M.Fields) {
        let overlay = Overlay(owner: owner, epoch: epoch, fields: fields, status: .present, isSaved: true)
        object._withState { state in
            state.overlays = [overlay]
            state.checkInvariants()
        }
        undo.append(OverlayRemoval(object: object))
    }

    private func put<M: Model>(_ overlay: Overlay<M.Fields>, on object: M) {
        let previous = object._withState { state -> Overlay<M.Fields>? in
            let previous = state.overlays.first.flatMap { $0.epoch == overlay.epoch ? $0 : nil }
            state.overlays = [overlay]
            state.checkInvariants()
            return previous
        }
        note(object, previous)
    }

    private func note<M: Model>(_ object: M, _ previous: Overlay<M.Fields>?) {
        if let previous {
            if savepointDepth > 0 { undo.append(OverlayRestoring(object: object, previous: previous)) }
        } else {
            undo.append(OverlayRemoval(object: object))
        }
    }
}
