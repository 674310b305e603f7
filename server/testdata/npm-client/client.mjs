// Puts questions to a live server with the stock SPARQL clients of npm and with
// node's own fetch. Usage: node client.mjs BASE_URL. Each check prints its name;
// the first that fails ends the process with status 1.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { SparqlEndpointFetcher } from 'fetch-sparql-endpoint'
import StreamClient from 'sparql-http-client'
import ParsingClient from 'sparql-http-client/ParsingClient.js'
import SimpleClient from 'sparql-http-client/SimpleClient.js'

const base = process.argv[2]
const endpointUrl = `${base}/sparql`
const updateUrl = `${base}/sparql/update`
const storeUrl = `${base}/graphs`

async function all (stream) {
  const out = []
  for await (const item of stream) out.push(item)
  return out
}

async function check (name, run) {
  try {
    await run()
  } catch (err) {
    console.error(`FAIL ${name}:`, err)
    process.exit(1)
  }
  console.log(`ok ${name}`)
}

const select = 'SELECT ?s ?o WHERE { GRAPH <http://e/g> { ?s <http://e/p> ?o } } ORDER BY ?o'
const construct = 'CONSTRUCT { ?s <http://e/made> ?o } WHERE { GRAPH <http://e/g> { ?s <http://e/p> ?o } }'

const insert = new SparqlEndpointFetcher()
await check('fetch-sparql-endpoint: update', () => insert.fetchUpdate(updateUrl,
  'INSERT DATA { GRAPH <http://e/g> { <http://e/a> <http://e/p> "eins"@de, 2, "é\\n\\"\\t😀" } }'))

for (const [name, args] of Object.entries({
  'POST form': { method: 'POST' },
  'POST direct': { method: 'POST', directPost: true },
  GET: { method: 'GET' }
})) {
  const f = new SparqlEndpointFetcher(args)
  await check(`fetch-sparql-endpoint: SELECT by ${name}`, async () => {
    const rows = await all(await f.fetchBindings(endpointUrl, select))
    assert.equal(rows.length, 3)
    const values = rows.map(r => r.o.value).sort()
    assert.deepEqual(values, ['2', 'eins', 'é\n"\t😀'].sort())
    const eins = rows.find(r => r.o.value === 'eins').o
    assert.equal(eins.language, 'de')
    const two = rows.find(r => r.o.value === '2').o
    assert.equal(two.datatype.value, 'http://www.w3.org/2001/XMLSchema#integer')
  })
  await check(`fetch-sparql-endpoint: ASK by ${name}`, async () => {
    assert.equal(await f.fetchAsk(endpointUrl, 'ASK { <http://e/a> ?p ?o }'), true)
    assert.equal(await f.fetchAsk(endpointUrl, 'ASK { <http://e/none> ?p ?o }'), false)
  })
  await check(`fetch-sparql-endpoint: CONSTRUCT by ${name}`, async () => {
    const triples = await all(await f.fetchTriples(endpointUrl, construct))
    assert.equal(triples.length, 3)
    assert.ok(triples.every(t => t.predicate.value === 'http://e/made'))
  })
  await check(`fetch-sparql-endpoint: DESCRIBE by ${name}`, async () => {
    const triples = await all(await f.fetchTriples(endpointUrl, 'DESCRIBE <http://e/a>'))
    assert.equal(triples.length, 3)
  })
  await check(`fetch-sparql-endpoint: an error says line and column, by ${name}`, async () => {
    await assert.rejects(f.fetchBindings(endpointUrl, 'SELECT * {\n ?s ?p }'), /HTTP status 400[\s\S]*line 2, column/)
  })
}

await check('fetch-sparql-endpoint: SELECT as XML', async () => {
  const f = new SparqlEndpointFetcher()
  const [type, version, stream] = await f.fetchRawStream(endpointUrl, select, 'application/sparql-results+xml')
  assert.equal(type, 'application/sparql-results+xml')
  assert.equal((await all(f.sparqlXmlParser.parseXmlResultsStream(stream, version))).length, 3)
})

const streaming = new StreamClient({ endpointUrl, updateUrl, storeUrl })
const parsing = new ParsingClient({ endpointUrl, updateUrl, storeUrl })
for (const operation of ['get', 'postUrlencoded', 'postDirect']) {
  await check(`sparql-http-client: SELECT by ${operation}`, async () => {
    assert.equal((await all(streaming.query.select(select, { operation }))).length, 3)
    assert.equal((await parsing.query.select(select, { operation })).length, 3)
  })
  await check(`sparql-http-client: ASK by ${operation}`, async () => {
    assert.equal(await parsing.query.ask('ASK { <http://e/a> ?p ?o }', { operation }), true)
  })
  await check(`sparql-http-client: CONSTRUCT by ${operation}`, async () => {
    assert.equal((await all(streaming.query.construct(construct, { operation }))).length, 3)
  })
  await check(`sparql-http-client: an error has its status, by ${operation}`, async () => {
    await assert.rejects(parsing.query.select('SELEKT', { operation }), err => err.status === 400)
  })
}
await check('sparql-http-client: the dataset of the protocol', async () => {
  const text = 'SELECT ?o { <http://e/a> <http://e/p> ?o }'
  const graphs = ['http://e/g', 'http://e/other'].map(g => streaming.factory.namedNode(g))
  for (const operation of ['get', 'postUrlencoded', 'postDirect']) {
    assert.equal((await all(streaming.query.select(text, { operation, parameters: { 'default-graph-uri': graphs } }))).length, 3)
    assert.equal((await all(streaming.query.select(text, { operation, parameters: { 'named-graph-uri': graphs[0] } }))).length, 0)
  }
})
await check('sparql-http-client: update', async () => {
  await streaming.query.update('INSERT DATA { <http://e/b> <http://e/p> 1 }')
  assert.equal(await parsing.query.ask('ASK { <http://e/b> <http://e/p> 1 }'), true)
  await streaming.query.update('INSERT { <http://e/c> <http://e/p> ?o } WHERE { <http://e/b> <http://e/p> ?o }',
    { parameters: { 'using-graph-uri': 'http://e/g' } })
  assert.equal(await parsing.query.ask('ASK { <http://e/c> ?p ?o }'), false)
  await assert.rejects(streaming.query.update('LOAD <http://e/x>'), err => err.status === 422)
})
await check('sparql-http-client: an update to the query endpoint changes nothing', async () => {
  const client = new SimpleClient({ endpointUrl, updateUrl: endpointUrl })
  const res = await client.postUrlencoded('CLEAR ALL', { update: true })
  assert.equal(res.status, 400)
})

const factory = streaming.factory
const graph = factory.namedNode('http://e/store?a=b&c=ü')
const quad = n => factory.quad(factory.namedNode('http://e/x'), factory.namedNode('http://e/p'), factory.literal(n), graph)
const stored = async g => (await all(streaming.store.get(g))).map(q => q.object.value).sort()
await check('sparql-http-client: graph store PUT, GET', async () => {
  await streaming.store.put(Readable.from([quad('1'), quad('2')]), { graph })
  assert.deepEqual(await stored(graph), ['1', '2'])
  await streaming.store.put(Readable.from([quad('3')]), { graph })
  assert.deepEqual(await stored(graph), ['3'])
})
await check('sparql-http-client: graph store POST', async () => {
  await streaming.store.post(Readable.from([quad('4'), quad('3')]), { graph })
  assert.deepEqual(await stored(graph), ['3', '4'])
})
await check('sparql-http-client: the default graph of the store', async () => {
  await streaming.store.put(Readable.from([quad('5')]), { graph: factory.defaultGraph() })
  await streaming.store.post(Readable.from([quad('6')]), { graph: factory.defaultGraph() })
  assert.deepEqual(await stored(factory.defaultGraph()), ['5', '6'])
})
await check('graph store HEAD, DELETE', async () => {
  const url = `${storeUrl}?graph=${encodeURIComponent(graph.value)}`
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 204)
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 404)
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 404)
  await assert.rejects(stored(graph), err => err.status === 404)
})

// The server of this test allows 5,000 rows; the answer to this has more.
const tooMuch = 'SELECT ?a ?b { <http://e/many> <http://e/p> ?a, ?b }'
await check('an answer that is cut off does not look whole', async () => {
  for (const accept of ['text/csv', 'text/tab-separated-values', 'application/sparql-results+json', 'application/sparql-results+xml']) {
    for (const encoding of ['identity', 'gzip']) {
      const whole = async () => {
        const res = await fetch(`${endpointUrl}?query=${encodeURIComponent(tooMuch)}`, { headers: { accept, 'accept-encoding': encoding } })
        return res.ok ? await res.text() : assert.fail(`answered ${res.status}, so nothing was cut`)
      }
      await assert.rejects(whole, err => err.name === 'TypeError', `${accept}, ${encoding}`)
    }
  }
  // Of the two clients this one hands the failure on.
  await assert.rejects(async () => all(await insert.fetchBindings(endpointUrl, tooMuch)))
  await assert.rejects(async () => all(await insert.fetchTriples(endpointUrl, 'CONSTRUCT { ?a <http://e/p> [ <http://e/p> ?b ] } WHERE { <http://e/many> <http://e/p> ?a, ?b }')))
})
