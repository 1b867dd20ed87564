// Makes the replica set rs0 of mongo1, mongo2 and mongo3, and the service's user. What is there
// already stays as it is.
const hosts = ["mongo1:27017", "mongo2:27017", "mongo3:27017"];
const secret = (name) => require("fs").readFileSync(`/run/secrets/${name}`, "utf8").trim();
const root = `root:${encodeURIComponent(secret("mongo-root-password"))}`;

const first = new Mongo(`mongodb://${root}@${hosts[0]}/?directConnection=true`).getDB("admin");
try {
  first.runCommand({ replSetGetStatus: 1 });
} catch (error) {
  if (error.codeName !== "NotYetInitialized") throw error;
  const members = hosts.map((host, _id) => ({ _id, host }));
  first.runCommand({ replSetInitiate: { _id: "rs0", members } });
}

// This waits until the set has a primary.
const set = new Mongo(`mongodb://${root}@${hosts.join(",")}/?replicaSet=rs0`);
const database = set.getDB("idp");
if (!database.getUser("idp")) {
  const roles = [{ role: "dbOwner", db: "idp" }];
  database.createUser({ user: "idp", pwd: secret("mongo-password"), roles });
}
