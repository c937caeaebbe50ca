// SPDX-License-Identifier: MIT
/*
 * Balanced trees (Adelson-Velsky and Landis): the heights of two siblings
 * differ by at most one, so that a tree of n nodes has at most 1.44 log2(n)
 * levels; a red-black tree, which the kernel had for VMAs, at most 2 log2(n).
 *
 * Nodes are embedded in their entries. There are no links upwards: all changes
 * go down from the root and correct heights on the way back.
 */
#include "frag.h"

static int height(const struct avl *node)
{
	return node ? node->height : 0;
}

static void update(struct avl_tree *tree, struct avl *node)
{
	int left = height(node->left), right = height(node->right);

	node->height = 1 + (left > right ? left : right);
	if (tree->update)
		tree->update(node);
}

static struct avl *rotate_right(struct avl_tree *tree, struct avl *node)
{
	struct avl *top = node->left;

	node->left = top->right;
	top->right = node;
	update(tree, node);
	update(tree, top);
	return top;
}

static struct avl *rotate_left(struct avl_tree *tree, struct avl *node)
{
	struct avl *top = node->right;

	node->right = top->left;
	top->left = node;
	update(tree, node);
	update(tree, top);
	return top;
}

/* Returns the new root of the subtree whose root was node. */
static struct avl *balance(struct avl_tree *tree, struct avl *node)
{
	int lean;

	update(tree, node);
	lean = height(node->left) - height(node->right);
	if (lean > 1) {
		if (height(node->left->left) < height(node->left->right))
			node->left = rotate_left(tree, node->left);
		return rotate_right(tree, node);
	}
	if (lean < -1) {
		if (height(node->right->right) < height(node->right->left))
			node->right = rotate_right(tree, node->right);
		return rotate_left(tree, node);
	}
	return node;
}

static struct avl *insert(struct avl_tree *tree, struct avl *root,
			  struct avl *node)
{
	if (!root)
		return node;
	if (tree->compare(node, root) < 0)
		root->left = insert(tree, root->left, node);
	else
		root->right = insert(tree, root->right, node);
	return balance(tree, root);
}

/* Takes the leftmost node out of a subtree, and returns the new root. */
static struct avl *remove_first(struct avl_tree *tree, struct avl *root,
				struct avl **first)
{
	if (!root->left) {
		*first = root;
		return root->right;
	}
	root->left = remove_first(tree, root->left, first);
	return balance(tree, root);
}

static struct avl *remove_node(struct avl_tree *tree, struct avl *root,
			       struct avl *node)
{
	struct avl *heir;

	if (root != node) {
		if (tree->compare(node, root) < 0)
			root->left = remove_node(tree, root->left, node);
		else
			root->right = remove_node(tree, root->right, node);
		return balance(tree, root);
	}
	if (!node->left || !node->right)
		return node->left ? node->left : node->right;
	node->right = remove_first(tree, node->right, &heir);
	heir->left = node->left;
	heir->right = node->right;
	return balance(tree, heir);
}

static void refresh(struct avl_tree *tree, struct avl *root, struct avl *node)
{
	if (root != node)
		refresh(tree,
			tree->compare(node, root) < 0 ? root->left :
							root->right,
			node);
	update(tree, root);
}

/**
 * avl_insert - put a node into a tree
 * @tree: tree
 * @node: node that is in no tree; @tree compares the contents of its entry
 */
void avl_insert(struct avl_tree *tree, struct avl *node)
{
	node->left = node->right = NULL;
	update(tree, node);
	tree->root = insert(tree, tree->root, node);
}

/**
 * avl_remove - take a node out of a tree
 * @tree: tree
 * @node: node in it; what @tree compares has not changed since it was put in
 */
void avl_remove(struct avl_tree *tree, struct avl *node)
{
	tree->root = remove_node(tree, tree->root, node);
}

/**
 * avl_refresh - update a tree: a node's contents have changed, not its place
 * @tree: tree
 * @node: node in it
 */
void avl_refresh(struct avl_tree *tree, struct avl *node)
{
	refresh(tree, tree->root, node);
}
