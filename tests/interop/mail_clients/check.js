// Reads mails as JSON, HTML by name; writes for each what the clients in the arguments don't
// support at all, as caniemail.com says: pairs of a client and a feature.
import { caniemail } from "caniemail";

const read = [];
for await (const chunk of process.stdin) read.push(chunk);
const found = {};
for (const [name, html] of Object.entries(JSON.parse(Buffer.concat(read)))) {
  const { issues } = caniemail({ clients: process.argv.slice(2), html });
  found[name] = [...issues.errors].flatMap(([client, features]) =>
    features.map((feature) => [client, feature.title]),
  );
}
console.log(JSON.stringify(found));
