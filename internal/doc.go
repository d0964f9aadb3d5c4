// Package internal holds the packages of Interlock. Its own tests hold the tree to its
// structure; docs/design.md says what each package is.
package internal
