package manifest

import "strings"

// near is the word of several that somebody may have meant by another: one that differs in case only,
// or the nearest of those that a few strokes make of it; empty for none.
func near(word string, words []string) string {
	best, fewest := "", max(1, min(3, len(word)/3))+1
	for _, w := range words {
		if strings.EqualFold(w, word) {
			return w
		}
		if n := strokes(strings.ToLower(word), strings.ToLower(w)); n < fewest || (n == fewest && best != "" && w < best) {
			best, fewest = w, n
		}
	}
	return best
}

// strokes is how many letters are put in, left out, replaced or swapped with their neighbour to make b of a
// (the optimal string alignment distance).
func strokes(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// meant is the words that say what somebody may have meant, to be put behind a message.
func meant(word string, words []string) string {
	if len(word) > maxWord {
		return ""
	}
	if n := near(word, words); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// maxWord is the length in bytes of a word that is compared with others: no field has a longer name.
const maxWord = 64
