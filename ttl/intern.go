package ttl

import "hash/maphash"

const (
	cacheSmall = 1 << 8
	cacheLarge = 1 << 12
	// cacheText is the longest text worth keeping. With cacheLarge it bounds
	// what one cache holds to about a megabyte.
	cacheText = 256
)

// cache keeps the strings that were made last, so that an IRI that comes again
// is not allocated again. It is a table with one place for each hash: a new
// string takes the place of the old one, so it is bounded by its size and
// needs no eviction, and an input made to collide only loses its benefit. The
// hash is seeded by the process. It starts small and grows once, because most
// documents are small.
type cache struct {
	seed    maphash.Seed
	entries []cached
	misses  int
	gen     uint32 // entries of another generation do not count
}

// cached is one string. In a cache of prefixed names key is the prefix and
// text[from:] what was written behind it.
type cached struct {
	key, text string
	from      int
	gen       uint32
}

// forget empties the cache, in constant time.
func (c *cache) forget() {
	c.gen++
	if c.gen == 0 { // wrapped: an entry of the last round could come back
		clear(c.entries)
		c.gen = 1
	}
}

// slot returns the place for a text as it was written.
func (c *cache) slot(raw []byte) *cached {
	if c.entries == nil {
		c.seed = maphash.MakeSeed()
		c.entries = make([]cached, cacheSmall)
		c.gen = max(c.gen, 1) // 0 marks a place that was never filled
	}
	return &c.entries[maphash.Bytes(c.seed, raw)&uint64(len(c.entries)-1)]
}

// put fills a place.
func (c *cache) put(e *cached, key, text string, from int) {
	if len(text) > cacheText {
		return
	}
	*e = cached{key: key, text: text, from: from, gen: c.gen}
	if c.misses++; c.misses == cacheSmall && len(c.entries) == cacheSmall {
		c.entries = make([]cached, cacheLarge)
	}
}

// plain returns raw as a string.
func (c *cache) plain(raw []byte) string {
	if len(raw) > cacheText {
		return string(raw)
	}
	e := c.slot(raw)
	if e.gen == c.gen && e.key == "" && e.text == string(raw) {
		return e.text
	}
	s := string(raw)
	c.put(e, "", s, 0)
	return s
}
