// Where oidc-provider keeps its records: in this process, or in MongoDB.

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
