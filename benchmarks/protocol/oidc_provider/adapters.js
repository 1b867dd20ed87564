// Where oidc-provider keeps its records: in this process, in a SQLite file, or in MongoDB.

import { MongoClient } from 'mongodb';

const seconds = () => Math.floor(Date.now() / 1000);

/** A class whose records last as long as the process; nothing is ever evicted. */
export function inMemory() {
  const models = new Map();
  return class {
    constructor(model) {
      if (!models.has(model)) models.set(model, new Map());
      this.records = models.get(model);
    }

    async upsert(id, payload) {
      this.records.set(id, payload);
      if (payload.uid) this.records.set(`uid:${payload.uid}`, payload);
    }

    async find(id) {
      return this.records.get(id);
    }

    async findByUid(uid) {
      return this.records.get(`uid:${uid}`);
    }

    async consume(id) {
      this.records.get(id).consumed = seconds();
    }

    async destroy(id) {
      this.records.delete(id);
    }

    async revokeByGrantId(grantId) {
      for (const [id, payload] of this.records) {
        if (payload.grantId === grantId) this.records.delete(id);
      }
    }
  };
}

/** A class whose records are in a database: acknowledged by a majority with its journal, read at
 * the primary, found by their ids or by an index. */
export async function inMongoDB(url) {
  const client = await new MongoClient(url, {
    ignoreUndefined: true,
    readPreference: 'primary',
    writeConcern: { w: 'majority', journal: true },
  }).connect();
  const database = client.db();
  for (const name of ['AccessToken', 'AuthorizationCode', 'RefreshToken']) {
    await database.collection(name).createIndex({ 'payload.grantId': 1 });
  }
  await database.collection('Session').createIndex({ 'payload.uid': 1 }, { unique: true });
  return class {
    constructor(model) {
      this.records = database.collection(model);
    }

    async upsert(_id, payload, expiresIn) {
      const expiresAt = expiresIn ? new Date(Date.now() + expiresIn * 1000) : undefined;
      await this.records.updateOne({ _id }, { $set: { payload, expiresAt } }, { upsert: true });
    }

    async find(_id) {
      return (await this.records.findOne({ _id }))?.payload;
    }

    async findByUid(uid) {
      return (await this.records.findOne({ 'payload.uid': uid }))?.payload;
    }

    async consume(_id) {
      await this.records.updateOne({ _id }, { $set: { 'payload.consumed': seconds() } });
    }

    async destroy(_id) {
      await this.records.deleteOne({ _id });
    }

    async revokeByGrantId(grantId) {
      await this.records.deleteMany({ 'payload.grantId': grantId });
    }
  };
}

/** A class whose records are in a SQLite file: each write is a transaction that is on the disk when
 * it returns; records are found by their ids or by an index. */
export async function inSQLite(path) {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE records (
      model TEXT, id TEXT, payload TEXT, uid TEXT, grant_id TEXT, expires_at INTEGER,
      PRIMARY KEY (model, id)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX by_uid ON records (model, uid) WHERE uid IS NOT NULL;
    CREATE INDEX by_grant ON records (model, grant_id) WHERE grant_id IS NOT NULL;
  `);
  const upsert = database.prepare(`
    INSERT INTO records VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (model, id) DO UPDATE SET
    payload = excluded.payload, uid = excluded.uid, grant_id = excluded.grant_id,
    expires_at = excluded.expires_at`);
  const byId = database.prepare('SELECT payload FROM records WHERE model = ? AND id = ?');
  const byUid = database.prepare('SELECT payload FROM records WHERE model = ? AND uid = ?');
  const consume = database.prepare(`
    UPDATE records SET payload = json_set(payload, '$.consumed', ?) WHERE model = ? AND id = ?`);
  const destroy = database.prepare('DELETE FROM records WHERE model = ? AND id = ?');
  const revoke = database.prepare('DELETE FROM records WHERE model = ? AND grant_id = ?');
  const payloadOf = (row) => row && JSON.parse(row.payload);
  return class {
    constructor(model) {
      this.model = model;
    }

    async upsert(id, payload, expiresIn) {
      const { uid = null, grantId = null } = payload;
      const expiresAt = expiresIn ? seconds() + expiresIn : null;
      upsert.run(this.model, id, JSON.stringify(payload), uid, grantId, expiresAt);
    }

    async find(id) {
      return payloadOf(byId.get(this.model, id));
    }

    async findByUid(uid) {
      return payloadOf(byUid.get(this.model, uid));
    }

    async consume(id) {
      consume.run(seconds(), this.model, id);
    }

    async destroy(id) {
      destroy.run(this.model, id);
    }

    async revokeByGrantId(grantId) {
      revoke.run(this.model, grantId);
    }
  };
}
