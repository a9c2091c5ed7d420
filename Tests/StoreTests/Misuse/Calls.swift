import Store

func madeByInit(_ db: Database) throws {
    // error: objects are made by 'Person.create(in: db) { $0.… = … }'
    _ = Person(id: 1, name: "x")
}

func madeByEmptyInit(_ db: Database) throws {
    // error: objects are made by 'Person.create(in: db) { $0.… = … }'
    _ = Person()
}

func refOfOtherModel(_ db: Database) throws {
    let q = try Place.create(in: db)
    // error: the object is of another model than the reference
    try Pet.create(in: db) { $0.owner = Ref(q) }
}

func objectForRef(_ db: Database) throws {
    let p = try Person.create(in: db)
    // error: cannot assign value of type 'Person' to type 'Ref<Person>'
    try Pet.create(in: db) { $0.owner = p }
}

func keyForRef(_ db: Database) throws {
    // error: cannot assign value of type 'Int' to type 'Ref<Person>'
    try Pet.create(in: db) { $0.owner = 7 }
}

func findByText(_ db: Database) throws {
    // error: the key has another type: 'find' takes the model's 'ID', or a sequence of them
    _ = try Person.find("7", in: db)
}

func findWithoutDatabase(_ db: Database) throws {
    // error: name the database: 'find(key, in: db)'
    _ = try Person.find(7)
}

func deleteByKey(_ db: Database) throws {
    // error: name the database: 'delete(key, in: db)'
    try Person.delete(1)
}

func deleteByText(_ db: Database) throws {
    // error: the key has another type: 'delete' takes the model's 'ID', or objects of the model
    try Person.delete("7", in: db)
}

func deleteObjectInDatabase(_ db: Database) throws {
    // error: an object knows its database: 'delete()'
    try Person.create(in: db).delete(in: db)
}

func saveInDatabase(_ db: Database) throws {
    // error: an object knows its database: 'save { $0.… = … }'
    try Person.create(in: db).save(in: db)
}

func createWithoutDatabase(_ db: Database) throws {
    // error: name the database: 'create(in: db) { $0.… = … }'
    try Person.create { $0.name = "x" }
}

func setProperty(_ db: Database) throws {
    let p = try Person.create(in: db)
    // error: cannot assign to property: 'name' is a get-only property
    p.name = "x"
}

func allWithoutDatabase(_ db: Database) throws {
    // error: name the database: 'all(in: db)'
    _ = try Person.all()
}

func requireByText(_ db: Database) throws {
    // error: the key has another type: 'require' takes the model's 'ID'
    _ = try Person.require("7", in: db)
}

func requireWithoutDatabase(_ db: Database) throws {
    // error: name the database: 'require(key, in: db)'
    _ = try Person.require(7)
}

func existsByText(_ db: Database) throws {
    // error: the key has another type: 'exists' takes the model's 'ID'
    _ = try Person.exists("7", in: db)
}

func existsWithoutDatabase(_ db: Database) throws {
    // error: name the database: 'exists(key, in: db)'
    _ = try Person.exists(7)
}

func findWithLabel(_ db: Database) throws {
    // error: the key has no label: 'find(key, in: db)'
    _ = try Person.find(id: 7, in: db)
}

func findWithLabelAlone(_ db: Database) throws {
    // error: the key has no label, and the database is named: 'find(key, in: db)'
    _ = try Person.find(id: 7)
}

func refByText(_ db: Database) throws {
    // error: the key has another type: a reference takes the 'ID' of its model, or an object
    try Pet.create(in: db) { $0.owner = Ref("7") }
}

func createByText(_ db: Database) throws {
    // error: the key has another type; properties are set in the block: 'create(in: db) { $0.… = … }'
    try Person.create("7", in: db)
}

func createWithProperty(_ db: Database) throws {
    // error: extraneous argument label 'name:' in call
    try Person.create(name: "x", in: db)
}

func upsertByText(_ db: Database) throws {
    // error: the key has another type: 'upsert' takes the model's 'ID'
    try Person.upsert("7", in: db) { $0.name = "x" }
}

func findOrCreateByText(_ db: Database) throws {
    // error: the key has another type: 'findOrCreate' takes the model's 'ID'
    try Person.findOrCreate("7", in: db) { $0.name = "x" }
}

func modifyByText(_ db: Database) throws {
    // error: the key has another type: 'modify' takes the model's 'ID'
    try Person.modify("7", in: db) { $0.name = "x" }
}

func refOfOptional(_ db: Database, _ person: Person?) throws {
    // error: the object may be nil: 'object.map { Ref($0) }'
    try Pet.create(in: db) { $0.owner = Ref(person) }
}

func deleteByDatabase(_ db: Database, _ person: Person) throws {
    // error: 'delete' of a database takes a list; one object is deleted by 'object.delete()'
    try db.delete(person)
}

func saveByDatabase(_ db: Database, _ person: Person) throws {
    // error: 'save' of a database takes a list; one object is saved by 'object.save { $0.… = … }'
    try db.save(person)
}

func updateOfObject(_ db: Database, _ person: Person) throws {
    // error: an object is changed by 'save { $0.… = … }'; 'update' is for queries
    try person.update { $0.name = "x" }
}
